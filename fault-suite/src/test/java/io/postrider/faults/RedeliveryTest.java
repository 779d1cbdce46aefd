// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.testkit.ChildJvm;
import io.postrider.testkit.LedgerWriters;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T61: a consumer dies before it has committed its offsets, and a relay before it has settled: events come again. */
@Tag("T61")
@Tag("sample")
@DisplayName("A consumer dies before it commits its offsets")
class RedeliveryTest {
    private static final int WINDOW = 200;

    @Test
    void effectsHappenOnceHoweverOftenAnEventIsDelivered() {
        try (Rig rig = Rig.on(SharedServers.get(), "T61 redelivery")) {
            // Without a key: an effect that happened twice is there twice.
            rig.execute("CREATE TABLE effect (event_id uuid); GRANT INSERT ON effect TO postrider_consumer");
            RelayChild relay =
                    rig.start(rig.quickRelay("relay").window(WINDOW).halt(Failpoint.parse("before-settle-5")));
            LedgerWriters writers = rig.start(rig.writers().rate(400).keys(50).events(2_000));
            relay.awaitDeath();
            rig.start(rig.quickRelay("heir").window(WINDOW)).awaitStarted();
            rig.fault("relay died before a settle");

            long seenBefore = 0;
            for (int deadlyBatch : List.of(1, 3, 2)) {
                seenBefore += seenBefore(awaitDeath(rig.closing(start(rig, deadlyBatch))));
            }
            ChildJvm killed = rig.closing(start(rig, 0));
            killed.awaitLine(line -> line.startsWith("batch 2 "), Rig.PATIENCE);
            killed.kill();
            seenBefore += seenBefore(killed);
            rig.fault("consumer killed 4 times, 3 of them before its offsets were committed");

            writers.awaitDone(Rig.PATIENCE);
            rig.assertSound(WINDOW);
            seenBefore += seenBefore(awaitAll(rig, rig.closing(start(rig, 0))));
            rig.figure(seenBefore + " events seen before");
            assertThat(seenBefore).as("they came again").isPositive();
            assertThat(rig.number("SELECT count(*) FROM effect"))
                    .isEqualTo(rig.ledger().committed());
            assertThat(rig.number("SELECT count(*) FROM ledger l WHERE 1 <>"
                            + " (SELECT count(*) FROM effect e WHERE e.event_id = l.event_id::uuid)"))
                    .isZero();
        }
    }

    private static ChildJvm start(Rig rig, int deadlyBatch) {
        return ChildJvm.of(ConsumerProcess.class)
                .jvmOptions("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
                .args(rig.consumerUrl(), rig.bootstrapServers(), rig.stream(), Integer.toString(deadlyBatch))
                .start();
    }

    private static ChildJvm awaitDeath(ChildJvm consumer) {
        assertThat(consumer.awaitExit(Rig.PATIENCE))
                .as(() -> String.join("\n", consumer.lines()))
                .hasValue(137);
        return consumer;
    }

    /** Until there is nothing more to read. */
    private static ChildJvm awaitAll(Rig rig, ChildJvm consumer) {
        Rig.await("all effects are there and nothing is left to read", () -> {
            List<String> lines = consumer.lines();
            return rig.number("SELECT count(DISTINCT event_id) FROM effect")
                            >= rig.ledger().committed()
                    && !lines.isEmpty()
                    && lines.get(lines.size() - 1).equals("idle");
        });
        return consumer;
    }

    private static long seenBefore(ChildJvm consumer) {
        return consumer.lines().stream()
                .filter(line -> line.startsWith("batch "))
                .reduce((earlier, later) -> later)
                .map(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
                .orElse(0L);
    }
}
