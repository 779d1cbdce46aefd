// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.ops.Alerts;
import io.postrider.testkit.ChildJvm;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Who tells is killed, and people are told all the same. */
class AlertCrashTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @ParameterizedTest
    @CsvSource({"claimed, 0, 1", "told, 1, 2"})
    void whatOneWasAboutToTellAnotherTellsWhenTheClaimHasRunOut(String moment, int before, int after) {
        database.clear();
        database.event("s", "k", "status = 'DEAD', holds = true");
        try (AlertRig rig = new AlertRig()) {
            try (ChildJvm child = start(rig, moment)) {
                child.awaitLine(moment::equals, PATIENCE);
                child.kill();
            }
            assertThat(rig.received).hasSize(before);
            Alerts next = rig.alerts(database).build();
            await().atMost(PATIENCE).until(() -> {
                next.look();
                return rig.received.size() == after;
            });
            next.look();
            assertThat(rig.messages()).hasSize(after).containsOnly("dead-letters raised: 1 dead in stream s");
        }
    }

    private static ChildJvm start(AlertRig rig, String lastMoment) {
        PGSimpleDataSource source = (PGSimpleDataSource) database.dataSource();
        return ChildJvm.of(AlertChild.class)
                .jvmOptions("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
                .args(
                        Objects.requireNonNull(source.getUrl()),
                        Objects.requireNonNull(source.getUser()),
                        rig.url(),
                        lastMoment)
                .start();
    }
}
