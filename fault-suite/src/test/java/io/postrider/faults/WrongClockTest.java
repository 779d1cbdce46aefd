// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.postrider.testkit.DeliveryLog;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T49: every process has another time of day. */
@Tag("T49")
@DisplayName("The clocks of the processes are wrong")
class WrongClockTest {
    private static final List<String> OFFSETS = List.of("+90s", "-45s", "+24h", "-24h");
    /** None may be taken for dead, though their JVMs start at the same time. */
    private static final Duration LEASE = Duration.ofSeconds(8);

    @Test
    void applicationsWhoseClocksAreWrongShareTheWork() {
        assumeTrue(
                WrongClock.isInstalled(),
                "libfaketime is not on this machine. Install it, such as by: apt-get install faketime");
        try (Rig rig = Rig.on(SharedServers.get(), "T49 wrong clocks")) {
            List<RelayChild> applications = OFFSETS.stream()
                    .map(offset -> rig.start(
                            rig.application("at " + offset, 60).lease(LEASE).clock(offset)))
                    .toList();
            applications.forEach(RelayChild::awaitStarted);
            rig.fault("clocks at " + String.join(", ", OFFSETS));
            RelayChild refused = applications.get(2);
            Rig.await(
                    "all have delivered but for the one whose records Kafka refuses, being of tomorrow",
                    () -> rig.number("SELECT count(DISTINCT settled_by) FROM outbox_history") == OFFSETS.size() - 1);
            Rig.await("it says why", () -> refused.logLines().stream().anyMatch(line -> line.contains("clock")));
            Rig.await("events arrive", () -> rig.log().distinct() > 1_500);
            assertThat(rig.number("SELECT count(*) FROM outbox_relay"))
                    .as("relays, none of which takes another for dead")
                    .isEqualTo(OFFSETS.size());
            assertThat(hours(rig, "max")).as("hours ahead").isBetween(23.9, 24.1);
            assertThat(hours(rig, "min")).as("hours behind").isBetween(-24.1, -23.9);
            assertThat(rig.log().entries())
                    .extracting(DeliveryLog.Entry::eventId)
                    .as("none is sent twice")
                    .doesNotHaveDuplicates();

            Instant killed = Instant.now();
            refused.kill();
            long inDoubt = rig.number("SELECT count(*) FROM outbox_event");
            rig.fault("the one at " + OFFSETS.get(2) + " killed");
            Rig.await("its shards are taken over", () -> rig.number("""
                    SELECT count(*) FROM outbox_shard s JOIN outbox_relay r ON r.id = s.owner
                    WHERE r.name <> 'at +24h'""") == 256);
            Duration takenOver = Duration.between(killed, Instant.now());
            rig.figure("taken over in", takenOver);
            applications.stream().filter(RelayChild::isAlive).forEach(RelayChild::stop);
            rig.start(rig.quickRelay("last").clock(OFFSETS.get(3))).awaitStarted();
            rig.assertSound(inDoubt);
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
            assertThat(takenOver).isLessThanOrEqualTo(Duration.ofSeconds(12));
        }
    }

    /** How far the time that an application gave an event is from when the database got it. */
    private static double hours(Rig rig, String extreme) {
        return rig.decimal(
                "SELECT extract(epoch FROM " + extreme + "(occurred_at - created_at)) / 3600 FROM outbox_history");
    }
}
