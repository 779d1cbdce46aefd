// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.testkit.DeliveryLog;
import io.postrider.testkit.KafkaServer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T48: payloads of all sizes pass through a relay with a small heap. */
@Tag("T48")
@DisplayName("Payloads of 1 byte to 50 MiB in a heap of 256 MiB")
class LargePayloadTest {
    private static final int LARGEST = 50 << 20;
    private static final List<Integer> LARGE =
            List.of(LARGEST, LARGEST, 30 << 20, 20 << 20, 10 << 20, 10 << 20, 5 << 20, 1 << 20, 1 << 20);

    @Test
    void payloadsUpToFiftyMebibytesPassThroughASmallHeap() {
        String room = Integer.toString(LARGEST + (1 << 20));
        try (KafkaServer kafka = KafkaServer.builder().jvmOptions("-Xmx400m").startProcess();
                Rig rig = Rig.on(
                        new Rig.Servers(SharedServers.get().postgres(), kafka),
                        "T48 large payloads",
                        Map.of("max.message.bytes", room))) {
            Random random = new Random(rig.seed());
            List<Integer> sizes = new ArrayList<>(LARGE);
            for (int i = 0; i < 400; i++) {
                sizes.add(1 + random.nextInt(i % 20 == 0 ? 100_000 : 1_000));
            }
            Collections.shuffle(sizes, random);
            JdbcOutbox outbox = rig.outbox().withMaxPayload(LARGEST);
            DeliveryLog written = DeliveryLog.inMemory();
            for (int size : sizes) {
                byte[] payload = new byte[size];
                random.nextBytes(payload);
                OutboxEvent event = OutboxEvent.of(rig.stream(), "Sized")
                        .key("key-" + random.nextInt(6))
                        .payload(payload)
                        .build();
                outbox.transact(tx -> tx.append(event));
                written.record(event);
            }
            RelayChild relay = rig.start(rig.relay("relay").maxPayload(LARGEST), "-Xmx256m");
            relay.awaitStarted();
            rig.fault("9 payloads of 1 to 50 MiB among " + sizes.size() + ", -Xmx256m");
            Rig.await("all arrive", () -> rig.log().distinct() == sizes.size());
            RelayChild.End end = relay.stop();

            assertThat(relay.lines()).noneMatch(line -> line.contains("OutOfMemoryError"));
            assertThat(hashes(rig.log())).isEqualTo(hashes(written));
            assertThat(rig.log().size()).isEqualTo(sizes.size());
            assertThat(end.published()).isEqualTo(sizes.size());
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
            rig.passed(sizes.size() + " delivered · 0 lost · 0 duplicates");
        }
    }

    private static Map<UUID, Long> hashes(DeliveryLog log) {
        Map<UUID, Long> hashes = new HashMap<>();
        log.entries().forEach(entry -> hashes.put(entry.eventId(), entry.payloadHash()));
        return hashes;
    }
}
