// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.testkit.ChildJvm;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A consumer is killed, and the event comes again. */
class InboxCrashTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final UUID event = UUID.randomUUID();

    @BeforeEach
    void table() {
        database.execute("CREATE TABLE IF NOT EXISTS invoice (event_id uuid)");
    }

    @ParameterizedTest
    @CsvSource({"noted, 0, true", "worked, 0, true", "committed, 1, false"})
    void whereverAConsumerIsKilledTheEffectsOfItsEventHappenOnce(String moment, int effects, boolean runsAgain) {
        try (ChildJvm killed = start(moment)) {
            killed.awaitLine(moment::equals, PATIENCE);
            killed.kill();
        }
        assertThat(invoices()).isEqualTo(effects);
        try (ChildJvm next = start("never")) {
            // Also if the server has not yet found out that the first is gone: it is waited for.
            next.awaitLine(("ended, ran: " + runsAgain)::equals, PATIENCE);
            assertThat(next.lines().stream().anyMatch(line -> line.endsWith("Event seen before, not processed again")))
                    .as("it is logged")
                    .isEqualTo(!runsAgain);
        }
        assertThat(invoices()).isEqualTo(1);
    }

    private ChildJvm start(String lastMoment) {
        PGSimpleDataSource source = (PGSimpleDataSource) database.dataSource();
        String url = Objects.requireNonNull(source.getUrl());
        String user = Objects.requireNonNull(source.getUser());
        return ChildJvm.of(InboxChild.class)
                .jvmOptions("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
                .jvmOptions("-Dorg.slf4j.simpleLogger.log.io.postrider=info")
                .args(url, user, event.toString(), lastMoment)
                .start();
    }

    private long invoices() {
        return database.number("SELECT count(*) FROM invoice WHERE event_id = '" + event + "'");
    }
}
