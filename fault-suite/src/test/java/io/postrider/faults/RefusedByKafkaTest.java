// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.testkit.DeliveryLog;
import io.postrider.testkit.LedgerWriters;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T29 and T27: Kafka takes most of what is sent, but not all. */
class RefusedByKafkaTest {

    @Test
    @Tag("T29")
    @Tag("sample")
    @DisplayName("Records that are too large")
    void aRecordThatIsTooLargeIsDeadAtOnceAndHoldsOnlyItsKey() {
        try (Rig rig = Rig.on(SharedServers.get(), "T29 record too large", Map.of("max.message.bytes", "50000"))) {
            rig.refuses().startHere(rig.relay("relay"));
            LedgerWriters writers = rig.start(rig.writers().rate(300).events(900));
            JdbcOutbox outbox = rig.outbox().withMaxPayload(4 << 20);
            Instant written = Instant.now();
            append(outbox, rig.stream(), "huge-for-client", 2 << 20);
            append(outbox, rig.stream(), "huge-for-topic", 200 << 10);
            append(outbox, rig.stream(), "huge-for-client", 10);
            append(outbox, rig.stream(), "huge-for-topic", 10);
            rig.fault("2 MiB for a client limit of 1 MiB, 200 KiB for a topic limit of 50,000 bytes");

            Rig.await(
                    "both are dead", () -> rig.number("SELECT count(*) FROM outbox_event WHERE status = 'DEAD'") == 2);
            rig.figure("dead in", Duration.between(written, Instant.now()));
            assertThat(rig.texts("""
                    SELECT event_key || ' ' || attempt_count || ' ' || last_error_code FROM outbox_event
                    WHERE status = 'DEAD' ORDER BY event_key"""))
                    .containsExactly("huge-for-client 1 RECORD_TOO_LARGE", "huge-for-topic 1 RECORD_TOO_LARGE");
            writers.awaitDone(Rig.PATIENCE);
            assertThat(rig.ledger().awaitDelivered(rig.log(), Rig.PATIENCE)).isTrue();
            // Others may be delivered and not yet settled.
            assertThat(rig.texts("SELECT event_key || ' ' || attempt_count FROM outbox_event WHERE status = 'PENDING'"
                            + " AND event_key LIKE 'huge%'"))
                    .as("held behind the dead")
                    .containsExactlyInAnyOrder("huge-for-client 0", "huge-for-topic 0");
            rig.execute("DELETE FROM outbox_event WHERE event_key LIKE 'huge%'");
            rig.assertSound(0);
        }
    }

    @Test
    @Tag("T27")
    @DisplayName("A topic does not exist for a while")
    void anUnknownTopicHoldsOnlyItsStreamAndIsServedOnceItExists() {
        try (Rig rig = Rig.on(SharedServers.get(), "T27 unknown topic")) {
            String absent = rig.stream() + "-absent";
            rig.startHere(rig.relay("relay"));
            JdbcOutbox outbox = rig.outbox();
            for (int i = 0; i < 50; i++) {
                append(outbox, absent, "key-" + i % 7, 100);
            }
            rig.fault("a topic that does not exist for a while");
            LedgerWriters writers = rig.start(rig.writers().rate(300));
            // Long enough for the publisher to give the topic up and for trials to follow.
            Rig.await(
                    "its gate is closed",
                    () -> rig.number("SELECT count(*) FROM outbox_relay WHERE '" + absent + "' = ANY (closed)") == 1);
            int before = rig.log().distinct();
            Rig.await("the other stream flows", () -> rig.log().distinct() > before + 300);
            writers.stop();
            assertThat(rig.number("SELECT count(*) FROM outbox_event WHERE attempt_count = 0 AND status = 'PENDING'"
                            + " AND stream = '" + absent + "'"))
                    .isEqualTo(50);

            DeliveryLog log = rig.tap(absent);
            SharedServers.get().kafka().createTopic(absent, 2);
            Instant created = Instant.now();
            Rig.await("the events arrive in the new topic", () -> log.distinct() == 50);
            rig.figure("served in", Duration.between(created, Instant.now()));
            rig.assertSound(0);
            assertThat(log.size()).isEqualTo(50);
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
            assertThat(rig.texts(
                            "SELECT max(settled_at - created_at) < interval '3 s' FROM outbox_history WHERE stream = '"
                                    + rig.stream() + "'"))
                    .isEqualTo(List.of("t"));
        }
    }

    private static void append(JdbcOutbox outbox, String stream, String key, int bytes) {
        outbox.transact(tx -> tx.append(OutboxEvent.of(stream, "Sized")
                .key(key)
                .payload(new byte[bytes])
                .build()));
    }
}
