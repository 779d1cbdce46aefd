// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.testkit.KafkaServer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** T05: applications that publish on commit die, and their broker does. */
class PublishOnCommitFaultsTest {
    /** Five seconds of lease, and what a loaded machine needs to look. */
    private static final Duration LATEST = Duration.ofSeconds(8);

    private static final String REFUSED = "key-0007";
    /** The product's own: one that is declared dead while a broker starts beside it sends twice what nobody counts. */
    private static final Duration LEASE = Duration.ofSeconds(8);

    @ParameterizedTest
    @Tag("T05")
    @DisplayName("Writer dies after its commit")
    @ValueSource(
            strings = {
                "before-hand_over-900",
                "after-hand_over-900",
                "before-read_leases-300",
                "after-read_leases-300",
                "before-send-900",
                "after-send-900",
                "before-answer-900",
                "after-answer-900",
                "before-settle-60",
                "after-settle-60",
                "before-release_leases-20",
                "after-release_leases-20"
            })
    void whatADeadWriterCommittedIsDeliveredWhenItsLeaseHasRunOut(String failpoint) {
        try (Rig rig = Rig.on(SharedServers.get(), "T05 " + failpoint)) {
            RelayChild relay = rig.start(rig.quickRelay("relay")).awaitStarted();
            RelaySetup setup = rig.application("writer", 300).withoutShards().halt(Failpoint.parse(failpoint));
            // What fails at its commit is given back.
            RelayChild writer = rig.start(failpoint.contains("release") ? setup.refuse(REFUSED, Duration.ZERO) : setup);
            writer.awaitDeath();
            Instant death = Instant.now();
            rig.fault("died " + failpoint);
            long sentAtTheirCommit = rig.number("SELECT count(*) FROM outbox_history WHERE settled_by = 'writer'");
            Rig.await("all is delivered", () -> rig.number("SELECT count(*) FROM outbox_event") == 0);
            // What it left behind is all that it may have sent without settling it.
            long left = rig.number("SELECT count(*) FROM outbox_history WHERE settled_by <> 'writer'");
            rig.assertSound(left);
            Duration took = Duration.between(death, rig.lastSettled());
            rig.figure(sentAtTheirCommit + " sent at their commit, " + left + " left behind");
            rig.figure("the last one delivered after", took);
            assertThat(sentAtTheirCommit).isPositive();
            assertThat(took).isLessThanOrEqualTo(LATEST);
            assertThat(relay.isAlive()).isTrue();
        }
    }

    @Test
    @Tag("T05")
    @Tag("sample")
    @DisplayName("Writer dies after its commit")
    void threeApplicationsKeepTheOrderOfHotKeysThroughARestartOfTheBrokerAndADeath() {
        try (KafkaServer kafka = SharedServers.kafka();
                Rig rig = Rig.on(new Rig.Servers(SharedServers.get().postgres(), kafka), "T05 three applications")) {
            List<RelayChild> applications = List.of(
                    rig.start(rig.application("one", 150).lease(LEASE)),
                    rig.start(rig.application("two", 150).lease(LEASE)),
                    rig.start(rig.application("three", 150).lease(LEASE)));
            applications.forEach(RelayChild::awaitStarted);
            Rig.await("events arrive", () -> rig.log().distinct() > 1_000);
            kafka.kill();
            long inDoubt = undelivered(rig);
            Rig.pause(Duration.ofSeconds(1));
            kafka.startAgain();
            rig.fault("broker restarted");
            long before = rig.log().distinct();
            Rig.await("events arrive again", () -> rig.log().distinct() > before + 1_000);
            applications.get(2).kill();
            inDoubt += undelivered(rig);
            rig.fault("one killed");
            long then = rig.log().distinct();
            Rig.await("events arrive still", () -> rig.log().distinct() > then + 500);
            long onCommit = applications.get(0).stop().onCommit()
                    + applications.get(1).stop().onCommit();
            rig.start(rig.quickRelay("last")).awaitStarted();
            rig.assertSound(inDoubt);
            rig.figure(onCommit + " sent at their commit, " + inDoubt + " undelivered at the faults");
            assertThat(onCommit).isPositive();
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
        }
    }

    /** All that may have been on its way. */
    private static long undelivered(Rig rig) {
        return rig.number("SELECT count(*) FROM outbox_event");
    }
}
