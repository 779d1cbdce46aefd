// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.testkit.DeliveryLog;
import io.postrider.testkit.LedgerWriters;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T14: transactions that took their ids early commit late. */
@Tag("T14")
@Tag("sample")
@DisplayName("Events are committed long after their ids were drawn")
class LateCommitTest {

    /** An event in a transaction that is still open. */
    private record Open(Connection connection, OutboxEvent event) {}

    @Test
    void whatCommitsLateIsFoundSoonAfterItsCommitAndOvertakenByNoneThatWaitedForIt() throws SQLException {
        try (Rig rig = Rig.on(SharedServers.get(), "T14 late commits")) {
            Random random = new Random(rig.seed());
            rig.startHere(rig.relay("relay"));
            // Those of one key wait for each other here, and some sleep for up to 2 s before they commit.
            LedgerWriters writers =
                    rig.start(rig.writers().threads(8).keys(25).rate(300).lateCommits(0.05, Duration.ofSeconds(2)));
            String stream = rig.stream() + "-late";
            SharedServers.get().kafka().createTopic(stream, 2);
            DeliveryLog log = rig.tap(stream);
            JdbcOutbox outbox = rig.outbox();
            List<Open> open = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                Connection connection = rig.closing(rig.writer().getConnection());
                connection.setAutoCommit(false);
                OutboxEvent event = event(stream, "late-" + i);
                outbox.on(connection).append(event);
                open.add(new Open(connection, event));
            }
            // Younger events of half of those keys, which did not wait, commit and go first.
            for (int i = 0; i < 4; i++) {
                OutboxEvent younger = event(stream, "late-" + i);
                outbox.transact(tx -> tx.append(younger));
                awaitDelivery(log, younger);
            }
            Rig.await("many younger events went by", () -> rig.log().distinct() > 500);
            Collections.shuffle(open, random);
            Duration longest = Duration.ZERO;
            Duration latest = Duration.ZERO;
            for (Open each : open) {
                Rig.pause(Duration.ofMillis(random.nextInt(300)));
                each.connection().commit();
                Instant committed = Instant.now();
                // One that is not late, to tell what the machine needs from what lateness costs.
                OutboxEvent beside = event(stream, "in-time");
                outbox.transact(tx -> tx.append(beside));
                Instant found = awaitDelivery(log, each.event());
                longest = longer(longest, Duration.between(committed, found));
                latest = longer(latest, Duration.between(awaitDelivery(log, beside), found));
            }
            rig.fault("8 commits seconds after their ids were drawn, and 5 % late writers");
            rig.figure("found in at most", longest);
            writers.stop();
            rig.assertSound(0);
            assertThat(log.size()).isEqualTo(20);
            assertThat(latest).isLessThan(Duration.ofSeconds(3));
        }
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    private static OutboxEvent event(String stream, String key) {
        return OutboxEvent.of(stream, "Late").key(key).json("{}").build();
    }

    private static Instant awaitDelivery(DeliveryLog log, OutboxEvent event) {
        Rig.await(
                "the event of " + event.key() + " arrives",
                () -> log.entries().stream().anyMatch(entry -> entry.eventId().equals(event.id())));
        return log.entries().stream()
                .filter(entry -> entry.eventId().equals(event.id()))
                .findFirst()
                .orElseThrow()
                .at();
    }
}
