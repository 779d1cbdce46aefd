// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.postrider.OutboxEvent;
import io.postrider.relay.DrainResult;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.Relay;
import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.testkit.PostgresServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tables and one delivery on every supported PostgreSQL. */
class SchemaVersionsTest {

    @Test
    void eventsAreDeliveredOnTheOldestSupportedPostgres() throws SQLException {
        Path installed = Path.of("/usr/lib/postgresql/15/bin");
        assumeTrue(Files.isDirectory(installed), "needs PostgreSQL 15 in " + installed + ": install postgresql-15");
        deliversOn("15.", PostgresServer.builder().binaries(installed));
    }

    @ParameterizedTest
    @ValueSource(strings = {"16", "17"})
    void eventsAreDeliveredOnPostgres(String version) throws SQLException {
        List<String> versions =
                List.of(System.getProperty("postrider.test.postgres", "").split(","));
        assumeTrue(versions.contains(version), "needs its binaries: run Maven with -Pall-postgres");
        deliversOn(version + ".", PostgresServer.builder().version(version));
    }

    private static void deliversOn(String version, PostgresServer.Builder builder) throws SQLException {
        try (PostgresServer server = builder.fsync(false).start()) {
            DataSource dataSource = server.createDatabase().dataSource();
            assertThat(query(dataSource, "SHOW server_version")).startsWith(version);
            Schema.of(dataSource).apply(SchemaMode.MIGRATE);
            JdbcOutbox outbox = JdbcOutbox.of(dataSource);
            outbox.transact(tx -> tx.append(List.of(
                    OutboxEvent.of("s", "first")
                            .key("k")
                            .header("h", "v")
                            .json("{}")
                            .build(),
                    OutboxEvent.of("s", "refused").key("other").build(),
                    OutboxEvent.of("s", "second").key("k").build())));
            List<String> delivered = new ArrayList<>();
            DrainResult result = Relay.from(OrderedFeed.of(dataSource))
                    .to(event -> answer(event, delivered))
                    .build()
                    .drain(100);
            assertThat(result).isEqualTo(new DrainResult(2, 0, 1, true));
            assertThat(delivered).containsSubsequence("first", "second");
            assertThat(query(dataSource, "SELECT count(*) FROM outbox_history")).isEqualTo("2");
            assertThat(query(dataSource, "SELECT string_agg(event_type || ' ' || status, ',') FROM outbox_status"))
                    .isEqualTo("refused DEAD");
        }
    }

    private static CompletionStage<?> answer(OutboxEvent event, List<String> delivered) {
        delivered.add(event.type());
        return event.type().equals("refused")
                ? CompletableFuture.failedFuture(new PermanentFailureException("NO", "refused"))
                : CompletableFuture.completedFuture(null);
    }

    private static String query(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }
}
