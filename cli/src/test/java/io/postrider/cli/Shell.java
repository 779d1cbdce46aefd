// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.testkit.PostgresServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Types commands against a database of its own, on a server that all tests of this JVM share. */
final class Shell {
    private static final PostgresServer SERVER =
            PostgresServer.builder().fsync(false).start();

    private final PostgresServer.Database database = SERVER.createDatabase();
    private final Map<String, String> environment = new HashMap<>(Map.of("POSTRIDER_URL", database.url()));

    static Shell migrated() {
        Shell shell = new Shell();
        Schema.of(shell.database.dataSource()).apply(SchemaMode.MIGRATE);
        return shell;
    }

    /** What came of one command. */
    record Result(int code, String out, String err) {
        List<String> lines() {
            return out.lines().toList();
        }
    }

    Result type(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        Console console = new Console(new PrintWriter(out, true), new PrintWriter(err, true), environment::get);
        int code = Postrider.run(console, args);
        return new Result(code, out.toString(), err.toString());
    }

    /** With a name and a reason. */
    Result sign(String... args) {
        return type(Stream.concat(Stream.of(args), Stream.of("--as", "kim", "--reason", "fixed"))
                .toArray(String[]::new));
    }

    Map<String, String> environment() {
        return environment;
    }

    PostgresServer.Database database() {
        return database;
    }

    void clear() {
        execute("DELETE FROM outbox_event; DELETE FROM outbox_attempt; DELETE FROM outbox_audit;"
                + " DELETE FROM outbox_stream; DELETE FROM outbox_relay; DELETE FROM outbox_shard;"
                + " DELETE FROM outbox_history");
    }

    /** Returns the event id. */
    String event(String stream, String key, String more) {
        String id = column("INSERT INTO outbox_event (stream, event_key, event_type, payload, headers) VALUES ('"
                        + stream + "', '" + key + "', 'Placed', '{\"n\":1}', '{\"trace\": \"t1\"}') RETURNING event_id")
                .get(0);
        if (!more.isEmpty()) {
            execute("UPDATE outbox_event SET " + more + " WHERE event_id = '" + id + "'");
        }
        return id;
    }

    String dead(String stream, String key) {
        return event(
                stream,
                key,
                "status = 'DEAD', holds = true, attempt_count = 5, last_error_code = 'BAD', last_error_message = 'no'");
    }

    void execute(String sql) {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    List<String> column(String sql) {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
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

    List<String> audit() {
        return column("SELECT concat_ws(' ', who, action, stream, reason) FROM outbox_audit ORDER BY id");
    }
}
