// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.testkit.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A fresh database with Postrider's tables, on a server that all tests of this JVM share. */
final class TestDatabase {
    private static final PostgresServer SERVER =
            PostgresServer.builder().fsync(false).start();

    static {
        // Where nothing else is said: a busy machine may stand still for longer than the ten seconds of the library.
        Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
    }

    private final DataSource dataSource;
    private @Nullable Connection own;

    private TestDatabase(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    static TestDatabase migrated() {
        TestDatabase database = empty();
        Schema.of(database.dataSource).apply(SchemaMode.MIGRATE);
        return database;
    }

    static TestDatabase empty() {
        return new TestDatabase(SERVER.createDatabase().dataSource());
    }

    /** As it was when it was migrated: much faster than another database. */
    void clear() {
        execute(
                "DELETE FROM outbox_event; DELETE FROM outbox_history; DELETE FROM outbox_history_overflow;"
                        + " DELETE FROM outbox_attempt; DELETE FROM outbox_relay; DELETE FROM outbox_shard;"
                        + " DELETE FROM outbox_stream; DELETE FROM outbox_audit; DELETE FROM inbox_message;"
                        + " DELETE FROM outbox_archive; DELETE FROM outbox_alert; DELETE FROM outbox_duty; SELECT outbox_history_prepare(1)");
    }

    DataSource dataSource() {
        return dataSource;
    }

    Connection connect() throws SQLException {
        return dataSource.getConnection();
    }

    OpenTransaction begin() throws SQLException {
        return new OpenTransaction(this);
    }

    /** Appends a pending event without the library, as a writer in any language may; returns its row's id. */
    long event(String stream, @Nullable String key) {
        return event(stream, key, "");
    }

    /** @param more columns and their values, such as {@code status = 'DEAD', holds = true} */
    long event(String stream, @Nullable String key, String more) {
        long id = number("INSERT INTO outbox_event (stream, event_key, event_type, payload, headers) VALUES ("
                + literal(stream) + ", " + literal(key) + ", 'T', 'x', '{}') RETURNING id");
        if (!more.isEmpty()) {
            execute("UPDATE outbox_event SET " + more + " WHERE id = " + id);
        }
        return id;
    }

    /** So many dead letters of another stream that a read no longer looks at every row. */
    void crowd() {
        execute("INSERT INTO outbox_event (stream, event_key, event_type, status)"
                + " SELECT 'elsewhere', 'k' || n, 'T', 'DEAD' FROM generate_series(1, 16384) n");
    }

    /** A relay elsewhere owns a shard and rests: no relay here owns all of them, so it leases what is committed here. */
    void leaveAShardToOthers() {
        execute(
                "WITH elsewhere AS (INSERT INTO outbox_relay (name, relay_group, wants, ttl_ms, lease_until)"
                        + " VALUES ('elsewhere', 'default', 'REST', 3600000, now() + interval '1 hour') RETURNING id)"
                        + " INSERT INTO outbox_shard (relay_group, shard, owner, epoch) SELECT 'default', 255, id, 1 FROM elsewhere");
    }

    static String literal(@Nullable String text) {
        return text == null ? "NULL" : "'" + text.replace("'", "''") + "'";
    }

    /** The columns of one event, as text with commas between them. */
    String row(long id, String columns) {
        List<String> rows = column("SELECT concat_ws(',', " + columns + ") FROM outbox_event WHERE id = " + id);
        return rows.isEmpty() ? "gone" : rows.get(0);
    }

    synchronized void execute(String sql) {
        try (Statement statement = own().createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    long number(String sql) {
        return Long.parseLong(column(sql).get(0));
    }

    /** The first column of a query's result, as text. */
    synchronized List<String> column(String sql) {
        try (Statement statement = own().createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(String.valueOf(rows.getString(1)));
            }
            return values;
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    /** Another key in the same shard. */
    String neighbourOf(String key) {
        return column("SELECT 'n' || n FROM generate_series(1, 10000) n"
                        + " WHERE hashtextextended(('n' || n) COLLATE \"C\", 0) & 255"
                        + " = hashtextextended(" + literal(key) + " COLLATE \"C\", 0) & 255 LIMIT 1")
                .get(0);
    }

    /** Ends all sessions but the one of these methods, as a failing network or a restart would. */
    void endSessions() {
        execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                        + " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'");
    }

    private Connection own() throws SQLException {
        if (own == null) {
            own = connect();
        }
        return own;
    }
}
