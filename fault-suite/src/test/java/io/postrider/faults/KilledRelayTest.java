// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static io.postrider.faults.Failpoint.after;
import static io.postrider.faults.Failpoint.before;

import io.postrider.relay.Relay;
import io.postrider.testkit.LedgerWriters;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** T01: a relay dies at each point where it touches its database or its destination. */
@Tag("T01")
@Tag("sample")
@DisplayName("A relay dies at each of its steps")
class KilledRelayTest {
    private static final int WINDOW = 200;
    private static final String REFUSED = "key-0007";

    static Stream<Failpoint> failpoints() {
        return some(
                before(Place.TAKE_SHARDS, 1),
                after(Place.TAKE_SHARDS, 1),
                before(Place.TICK, 6),
                after(Place.TICK, 6),
                before(Place.READ, 8),
                after(Place.READ, 8),
                before(Place.SEND, 150),
                after(Place.SEND, 150),
                before(Place.ANSWER, 150),
                after(Place.ANSWER, 150),
                before(Place.SETTLE, 5),
                after(Place.SETTLE, 5),
                before(Place.VERDICT, 2),
                after(Place.VERDICT, 2),
                before(Place.JOIN, 1),
                after(Place.JOIN, 1));
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @MethodSource("failpoints")
    void losesAndReordersNothingWhenItDies(Failpoint failpoint) {
        try (Rig rig = rig(failpoint)) {
            LedgerWriters writers = writers(rig);
            RelayChild victim = rig.start(victim(rig, failpoint));
            victim.awaitDeath();
            survive(rig, writers, WINDOW);
        }
    }

    static Stream<Failpoint> takeovers() {
        return some(
                before(Place.DECLARE_DEAD, 1),
                after(Place.DECLARE_DEAD, 1),
                before(Place.TAKE_SHARDS, 1),
                after(Place.TAKE_SHARDS, 1),
                before(Place.CALM, 1),
                after(Place.CALM, 1));
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @MethodSource("takeovers")
    void losesAndReordersNothingWhenItDiesWhileTakingOver(Failpoint failpoint) {
        try (Rig rig = rig(failpoint)) {
            LedgerWriters writers = writers(rig);
            RelayChild first = rig.start(victim(rig, after(Place.ANSWER, 100)));
            first.awaitDeath();
            rig.fault("kill after-answer-100 before");
            RelayChild second = rig.start(victim(rig, failpoint));
            second.awaitDeath();
            survive(rig, writers, WINDOW);
        }
    }

    static Stream<Failpoint> marks() {
        return some(before(Place.MARK, 2), after(Place.MARK, 2));
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @MethodSource("marks")
    void losesAndReordersNothingWhenItDiesWhileItIsCareful(Failpoint failpoint) {
        try (Rig rig = rig(failpoint)) {
            LedgerWriters writers = writers(rig);
            RelayChild first = rig.start(victim(rig, after(Place.ANSWER, 100)));
            first.awaitDeath();
            rig.fault("the third to be killed");
            rig.execute("UPDATE outbox_shard SET unclean = 2, newest = (SELECT max(id) FROM outbox_event)");
            RelayChild second = rig.start(victim(rig, failpoint));
            second.awaitDeath();
            survive(rig, writers, WINDOW);
        }
    }

    static Stream<Failpoint> releases() {
        return some(before(Place.RELEASE_SHARDS, 1), after(Place.RELEASE_SHARDS, 1));
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @MethodSource("releases")
    void losesAndReordersNothingWhenItDiesWhileGivingUpItsShare(Failpoint failpoint) {
        try (Rig rig = rig(failpoint)) {
            LedgerWriters writers = writers(rig);
            RelayChild victim = rig.start(victim(rig, failpoint)).awaitStarted();
            Relay survivor = survivor(rig);
            victim.awaitDeath();
            survive(rig, writers, survivor, WINDOW);
        }
    }

    static Stream<Failpoint> leaves() {
        return some(before(Place.RELEASE_SHARDS, 1), before(Place.LEAVE, 1), after(Place.LEAVE, 1));
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @MethodSource("leaves")
    void losesAndReordersNothingWhenItDiesWhileLeaving(Failpoint failpoint) {
        try (Rig rig = rig(failpoint)) {
            LedgerWriters writers = writers(rig);
            RelayChild victim = rig.start(victim(rig, failpoint)).awaitStarted();
            Rig.await(
                    "the victim delivers",
                    () -> rig.firstSettled("victim", Instant.EPOCH).isPresent());
            rig.fault("SIGTERM");
            victim.terminate();
            victim.awaitDeath();
            // What was under way is settled before it leaves.
            survive(rig, writers, 0);
        }
    }

    /** All of them if the whole suite is asked for, else a third. */
    private static Stream<Failpoint> some(Failpoint... all) {
        int step = Boolean.getBoolean("faults.all") ? 1 : 3;
        return IntStream.range(0, all.length).filter(i -> i % step == 0).mapToObj(i -> all[i]);
    }

    private static Rig rig(Failpoint failpoint) {
        Rig rig = Rig.on(SharedServers.get(), "T01 killed relay " + failpoint);
        rig.fault("kill " + failpoint);
        return failpoint.place() == Place.VERDICT ? rig.refuses() : rig;
    }

    private static LedgerWriters writers(Rig rig) {
        return rig.start(rig.writers().rate(400).keys(40));
    }

    private static RelaySetup victim(Rig rig, Failpoint failpoint) {
        RelaySetup setup = rig.quickRelay("victim").window(WINDOW).halt(failpoint);
        // Without a refusal there would be no verdict.
        return failpoint.place() == Place.VERDICT ? setup.refuse(REFUSED, Duration.ZERO) : setup;
    }

    private static Relay survivor(Rig rig) {
        return rig.startHere(rig.quickRelay("survivor").window(WINDOW));
    }

    private static void survive(Rig rig, LedgerWriters writers, long maxDuplicates) {
        survive(rig, writers, survivor(rig), maxDuplicates);
    }

    private static void survive(Rig rig, LedgerWriters writers, Relay survivor, long maxDuplicates) {
        long start = System.nanoTime();
        Rig.await("the survivor delivers", () -> survivor.publishedCount() > 0);
        rig.figure("recovered in", Duration.ofNanos(System.nanoTime() - start));
        // Not before: on a fast machine the victim would leave nothing to deliver.
        writers.stop();
        rig.assertSound(maxDuplicates);
    }
}
