// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.testkit.ChildJvm;
import io.postrider.testkit.PostgresServer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whatever goes wrong, no secret is logged, stored with an error, or shown by an object that holds it. */
@Tag("sample")
class CanariesTest {
    private static final byte[] BYTES = CanaryMain.CANARY.getBytes(StandardCharsets.UTF_8);

    /** As text, as PostgreSQL writes bytes, and as an envelope would. */
    private static final List<String> FORMS = List.of(
            CanaryMain.CANARY,
            HexFormat.of().formatHex(BYTES),
            Base64.getEncoder().withoutPadding().encodeToString(BYTES).substring(0, 8));

    @Test
    void noSecretIsSeenAnywhere() throws Exception {
        PostgresServer.Database database = SharedServers.get().postgres().createDatabase();
        Schema.of(database.dataSource()).apply(SchemaMode.MIGRATE);
        try (ChildJvm child = ChildJvm.of(CanaryMain.class)
                .args(database.url())
                .jvmOptions("-Dorg.slf4j.simpleLogger.log.io.postrider=trace")
                .start()) {
            child.awaitLine(line -> line.contains("cannot reach its database"), Rig.PATIENCE);
            child.send("go on");
            child.awaitLine("end"::equals, Rig.PATIENCE);
            assertThat(child.lines())
                    .as("all kinds of lines are there")
                    .anyMatch(line -> line.contains("DEBUG io.postrider"))
                    .anyMatch(line -> line.contains("Event is dead"))
                    .anyMatch(line -> line.contains("retrying in"))
                    .anyMatch(line -> line.contains("its destination takes nothing"))
                    .anyMatch(line -> line.contains("cannot reach its database"))
                    .anyMatch(line -> line.contains("DeadLetter[id="))
                    .anyMatch(line -> line.contains("shown KafkaPublisher("))
                    .anyMatch(line -> line.contains("no_such_type"))
                    .anyMatch(line -> line.contains("password=[hidden]"));
            assertNoCanary(child.lines());
        }
        List<String> stored = new ArrayList<>();
        for (String query : List.of(
                "SELECT concat_ws(' ', last_error_code, last_error_message) FROM outbox_event",
                "SELECT concat_ws(' ', last_error_code, last_error_message) FROM outbox_history",
                "SELECT a::text FROM outbox_attempt a",
                "SELECT s::text FROM outbox_stream s",
                "SELECT s::text FROM outbox_status s",
                "SELECT r::text FROM outbox_relay r")) {
            stored.addAll(rows(database, query));
        }
        assertThat(stored)
                .anyMatch(line -> line.contains("IllegalStateException"))
                .hasSizeGreaterThan(10);
        assertNoCanary(stored);
        assertThat(rows(database, "SELECT encode(payload, 'escape') || headers FROM outbox_event"))
                .as("the secrets were really there")
                .allMatch(row -> row.contains("canary-payload") && row.contains("canary-header"))
                .isNotEmpty();
    }

    private static void assertNoCanary(List<String> lines) {
        for (String form : FORMS) {
            assertThat(lines).noneMatch(line -> line.contains(form));
        }
    }

    private static List<String> rows(PostgresServer.Database database, String query) throws Exception {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            List<String> found = new ArrayList<>();
            while (rows.next()) {
                found.add(String.valueOf(rows.getString(1)));
            }
            return found;
        }
    }
}
