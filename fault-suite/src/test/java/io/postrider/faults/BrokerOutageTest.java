// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.LedgerWriters;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T23: the broker dies and comes back while events are written. */
@Tag("T23")
@DisplayName("The broker is away while events are written")
class BrokerOutageTest {
    private static final int WINDOW = 200;

    @Test
    void anOutageBurnsNoAttemptAndEndsByItselfSoonAfterTheBrokerIsBack() {
        try (KafkaServer kafka = SharedServers.kafka();
                Rig rig = Rig.on(
                        new Rig.Servers(SharedServers.get().postgres(), kafka),
                        "T23 broker outage" + (Rig.LONG ? " (long)" : ""))) {
            RelaySetup setup = rig.relay("relay").window(WINDOW);
            RelayChild relay = rig.start(Rig.LONG ? setup : setup.sendTimeout(Duration.ofSeconds(2)))
                    .awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().rate(200).keys(60));
            Rig.await("events arrive", () -> rig.log().distinct() > 200);
            int quiet = relay.logLines().size();

            Duration away = Duration.ofSeconds(Rig.LONG ? 60 : 12);
            rig.fault("broker killed for " + away.toSeconds() + " s");
            Instant gone = Instant.now();
            kafka.kill();
            Rig.pause(away);
            kafka.startAgain();
            Instant back = Instant.now();
            Duration resumed = rig.awaitSettled(back);
            rig.figure("resumed in", resumed);
            long seconds = Duration.between(gone, Instant.now()).toSeconds();

            writers.stop();
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
            assertThat(rig.number("SELECT count(*) FROM outbox_event WHERE attempt_count > 0 OR status <> 'PENDING'"))
                    .isZero();
            long doubts = relay.logLines().stream()
                    .filter(line -> line.contains("gave no answer"))
                    .count();
            rig.assertSound(WINDOW * Math.max(1, doubts));
            int lines = relay.logLines().size() - quiet;
            rig.figure(lines + " log lines in " + seconds + " s");
            assertThat(relay.logLines()).hasSizeLessThanOrEqualTo(quiet + (int) seconds);
            assertThat(resumed).isLessThanOrEqualTo(Duration.ofSeconds(5));
        }
    }
}
