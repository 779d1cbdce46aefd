// SPDX-License-Identifier: Apache-2.0
package io.postrider.table;

import io.postrider.OutboxException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the tables to the latest version while others use them. Each script is a transaction of its own, after which
 * libraries of the version before go on.
 *
 * <p>A script that waits for a lock makes all wait that come after it, so it waits for moments only, gives up and tries again
 * later: a long transaction of an application delays the migration, not the application.
 */
final class Migration {
    private static final Logger log = LoggerFactory.getLogger(Migration.class);
    private static final String LOCK_NOT_AVAILABLE = "55P03";
    private static final Duration LOCK_WAIT = Duration.ofMillis(30);
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final DataSource dataSource;
    private final TableNames tables;
    private final Duration patience;

    Migration(DataSource dataSource, TableNames tables) {
        this(dataSource, tables, PATIENCE);
    }

    Migration(DataSource dataSource, TableNames tables, Duration patience) {
        this.dataSource = dataSource;
        this.tables = tables;
        this.patience = patience;
    }

    void run() {
        try (Connection connection = dataSource.getConnection()) {
            // As a rule there is nothing to do, and no right to do it.
            if (Schema.version(connection, tables) < Schema.latestVersion()) {
                connection.setAutoCommit(false);
                connection.rollback();
                runAll(connection);
            }
        } catch (SQLException e) {
            throw new OutboxException(
                    "Postrider's tables could not be migrated: " + e.getMessage()
                            + ". The script that failed changed nothing. Migrate as the owner of the tables, who may"
                            + " create others, or run the scripts by hand.",
                    e);
        }
    }

    private void runAll(Connection connection) throws SQLException {
        long deadline = System.nanoTime() + patience.toNanos();
        boolean gaveWay = false;
        while (true) {
            try {
                if (runNext(connection)) {
                    return;
                }
            } catch (SQLException | RuntimeException e) {
                rollback(connection, e);
                if (!(e instanceof SQLException locked) || !LOCK_NOT_AVAILABLE.equals(locked.getSQLState())) {
                    throw e;
                }
                if (System.nanoTime() - deadline > 0) {
                    throw new OutboxException(
                            "Postrider's tables could not be migrated within " + patience.toSeconds()
                                    + " s, since other transactions hold locks on them. None of them waited for longer"
                                    + " than " + LOCK_WAIT.toMillis() + " ms at a time, and the script changed nothing."
                                    + " End the long transactions that pg_stat_activity shows, or wait for less load,"
                                    + " and migrate again.",
                            e);
                }
                if (!gaveWay) {
                    log.info(
                            "Migration gives way to other transactions, and tries again for {} s",
                            patience.toSeconds());
                    gaveWay = true;
                }
                pause();
            }
        }
    }

    /** Runs one script; true if there is none left. */
    private boolean runNext(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            // What another has migrated while this one waited must be seen.
            statement.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
            statement.execute("SET LOCAL lock_timeout = " + LOCK_WAIT.toMillis());
            // Two processes that start at once migrate one after the other.
            statement.execute("SELECT pg_advisory_xact_lock(hashtextextended('postrider.schema', 0))");
            int version = Schema.version(connection, tables);
            if (version >= Schema.latestVersion()) {
                connection.commit();
                return true;
            }
            if (!tables.schema().isEmpty()) {
                if (version == 0) {
                    statement.execute("CREATE SCHEMA IF NOT EXISTS " + tables.schema());
                }
                statement.execute("SET LOCAL search_path TO " + tables.schema());
            }
            if (version == 0) {
                statement.execute(Schema.createMeta(tables));
            }
            Schema.Script script = Schema.scripts().get(version);
            statement.execute(script.sql());
            record(connection, script);
            connection.commit();
            log.info("Schema migrated to version {} ({})", script.version(), script.name());
            return script.version() == Schema.latestVersion();
        }
    }

    private static void rollback(Connection connection, Exception why) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            why.addSuppressed(e);
        }
    }

    private void record(Connection connection, Schema.Script script) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "INSERT INTO " + tables.meta() + " (version, script, usable_from) VALUES (?, ?, ?)")) {
            statement.setInt(1, script.version());
            statement.setString(2, script.name());
            statement.setInt(3, script.usableFrom());
            statement.executeUpdate();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(ThreadLocalRandom.current().nextLong(100, 400));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new OutboxException("Interrupted while migrating Postrider's tables; run it again", e);
        }
    }
}
