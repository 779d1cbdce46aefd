// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static io.postrider.faults.Failpoint.after;
import static io.postrider.faults.Failpoint.before;
import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.relay.Relay;
import io.postrider.testkit.LedgerWriters;
import java.time.Duration;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** T01 of a competing stream: a worker dies at each point where it touches its database or its destination. */
@Tag("T01")
@Tag("sample")
@DisplayName("A relay dies at each of its steps")
class KilledWorkerTest {
    private static final int WINDOW = 200;
    private static final String SUSPENDED = "key-0007";

    static Stream<Failpoint> failpoints() {
        Failpoint[] all = {
            after(Place.CLAIM, 8),
            before(Place.SEND, 150),
            after(Place.SEND, 150),
            before(Place.ANSWER, 150),
            after(Place.ANSWER, 150),
            before(Place.SETTLE, 5),
            after(Place.SETTLE, 5),
            before(Place.CLAIM, 8),
            before(Place.TICK, 6),
            after(Place.TICK, 6),
            before(Place.EXTEND, 1),
            after(Place.EXTEND, 1),
            before(Place.VERDICT, 2),
            after(Place.VERDICT, 2)
        };
        int step = Boolean.getBoolean("faults.all") ? 1 : 3;
        return IntStream.range(0, all.length).filter(i -> i % step == 0).mapToObj(i -> all[i]);
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @MethodSource("failpoints")
    void losesNothingWhenItDies(Failpoint failpoint) {
        try (Rig rig = Rig.on(SharedServers.get(), "T01 killed worker " + failpoint)) {
            rig.fault("kill " + failpoint);
            RelaySetup setup = worker(rig, "victim").halt(failpoint);
            boolean slow = failpoint.place() == Place.EXTEND;
            boolean refused = slow || failpoint.place() == Place.VERDICT;
            if (refused) {
                rig.refuses();
            }
            // Without a refusal there would be no verdict, and without one that takes long no extension.
            RelayChild victim =
                    rig.start(refused ? setup.refuse(SUSPENDED, slow ? Duration.ofSeconds(5) : Duration.ZERO) : setup);
            LedgerWriters writers = rig.start(rig.writers().rate(400).keys(40));
            victim.awaitDeath();
            long start = System.nanoTime();
            Relay survivor = rig.startHere(worker(rig, "survivor"));
            Rig.await("the survivor delivers", () -> survivor.publishedCount() > 0);
            rig.figure("recovered in", Duration.ofNanos(System.nanoTime() - start));
            writers.stop();
            rig.assertSoundInAnyOrder(WINDOW);
            assertThat(rig.number("SELECT count(*) FROM outbox_relay WHERE name = 'survivor'"))
                    .isEqualTo(1);
            Rig.await(
                    "the dead one is removed",
                    () -> rig.number("SELECT count(*) FROM outbox_relay WHERE name = 'victim'") == 0);
        }
    }

    private static RelaySetup worker(Rig rig, String name) {
        return rig.quickRelay(name).window(WINDOW).competing(rig.stream());
    }
}
