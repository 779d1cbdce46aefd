// SPDX-License-Identifier: Apache-2.0
package io.postrider.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxException;
import io.postrider.testkit.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** From one version to the next while others hold locks; the fault test T58 does it under load. */
class MigrationTest {
    private static final PostgresServer SERVER =
            PostgresServer.builder().fsync(false).start();

    private DataSource dataSource;

    @AfterAll
    static void stop() {
        SERVER.close();
    }

    @BeforeEach
    void firstVersion() throws SQLException {
        dataSource = SERVER.createDatabase().dataSource();
        Schema.Script first = Schema.scripts().get(0);
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(Schema.createMeta(TableNames.ofDefaults()));
            statement.execute(first.sql());
            statement.execute("INSERT INTO outbox_meta (version, script, usable_from) VALUES (1, 'V1__outbox.sql', 1)");
        }
    }

    @Test
    void onlyWhatIsMissingIsRun() {
        Schema schema = Schema.of(dataSource);
        assertThat(schema.version()).isEqualTo(1);
        schema.apply(SchemaMode.MIGRATE);
        assertThat(schema.version()).isEqualTo(Schema.latestVersion());
    }

    @Test
    void whatValidationPrintsIsWhatIsMissing() throws SQLException {
        Schema schema = Schema.of(dataSource);
        assertThatThrownBy(() -> schema.apply(SchemaMode.VALIDATE))
                .isInstanceOf(OutboxException.class)
                .hasMessageStartingWith(
                        "Postrider's tables are at version 1 and this library needs " + Schema.latestVersion())
                .hasMessageContaining("ADD COLUMN version text")
                .hasMessageNotContaining("CREATE TABLE outbox_event");
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(Schema.sql(TableNames.ofDefaults(), 1));
        }
        schema.apply(SchemaMode.VALIDATE);
    }

    @Test
    void whileAMigrationWaitsForALongTransactionOthersPass() throws Exception {
        try (Connection reader = reading();
                Connection other = dataSource.getConnection();
                Statement passing = other.createStatement()) {
            CompletableFuture<Void> migration =
                    CompletableFuture.runAsync(() -> Schema.of(dataSource).apply(SchemaMode.MIGRATE));
            passing.execute("SET statement_timeout = '20s'");
            // Of five moments at which it stands in the way, each passes.
            for (int i = 0; i < 5; i++) {
                awaitMigrationBlocked(passing);
                passing.execute("INSERT INTO outbox_relay (name, relay_group, wants, ttl_ms, lease_until)"
                        + " VALUES ('r', 'default', 'SHARDS', 8000, clock_timestamp())");
            }
            assertThat(migration).isNotDone();
            reader.rollback();
            migration.get(60, TimeUnit.SECONDS);
        }
        assertThat(Schema.of(dataSource).version()).isEqualTo(Schema.latestVersion());
    }

    @Test
    void aMigrationThatNeverGetsItsLockGivesUpWithNothingChanged() throws SQLException {
        try (Connection reader = reading()) {
            assertThatThrownBy(() -> new Migration(dataSource, TableNames.ofDefaults(), Duration.ofMillis(300)).run())
                    .isInstanceOf(OutboxException.class)
                    .hasMessageStartingWith(
                            "Postrider's tables could not be migrated within 0 s, since other transactions"
                                    + " hold locks on them.")
                    .hasMessageContaining("pg_stat_activity");
            reader.rollback();
        }
        assertThat(Schema.of(dataSource).version()).isEqualTo(1);
    }

    /** A transaction that has read the table which the next script changes, and does not end. */
    private Connection reading() throws SQLException {
        Connection connection = dataSource.getConnection();
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT FROM outbox_relay");
        }
        return connection;
    }

    private static void awaitMigrationBlocked(Statement statement) {
        Awaitility.await("the migration waits for its lock")
                .atMost(Duration.ofSeconds(30))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .until(() -> {
                    try (ResultSet rows = statement.executeQuery("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted"
                            + " AND relation = 'outbox_relay'::regclass AND mode = 'AccessExclusiveLock')")) {
                        rows.next();
                        return rows.getBoolean(1);
                    }
                });
    }
}
