// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.relay.Relay;
import io.postrider.testkit.LedgerWriters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T16 and T55: relays come and go in order while events are written. */
class SharedWorkTest {
    private static final int ROUNDS = 4;
    private static final int HERE = 4;
    /** Longer than any hand-over: shards that were not given up would be missed for as long. */
    private static final Duration LEASE = Duration.ofSeconds(30);

    @Test
    @Tag("T16")
    @Tag("sample")
    @DisplayName("Relays join and leave")
    void keysStayInOrderAndNothingComesTwiceWhileRelaysJoinAndLeave() {
        try (Rig rig = Rig.on(SharedServers.get(), "T16 three relays")) {
            RelayChild first = rig.start(rig.relay("first"));
            RelayChild second = rig.start(rig.relay("second"));
            first.awaitStarted();
            second.awaitStarted();
            LedgerWriters writers =
                    rig.start(rig.writers().threads(4).keys(40).rate(500).lateCommits(0.1, Duration.ofMillis(300)));
            Rig.await("events arrive", () -> rig.log().distinct() > 500);
            RelayChild third = rig.start(rig.relay("third")).awaitStarted();
            awaitShare(rig, "third");
            rig.fault("a third relay joins");
            RelayChild.End end = first.stop();
            rig.fault("the first one leaves");
            rig.figure("left in", end.took());
            awaitNoShardFree(rig);
            Rig.pause(Duration.ofSeconds(1));
            writers.stop();
            rig.assertSound(0);
            assertThat(end.published()).isPositive();
            assertThat(second.stop().published()).isPositive();
            assertThat(third.stop().published()).isPositive();
        }
    }

    @Test
    @Tag("T55")
    @DisplayName("Relays stop under load")
    void twentyRelaysThatStopUnderLoadLeaveNoDuplicateAndNoGap() {
        try (Rig rig = Rig.on(SharedServers.get(), "T55 graceful stops")) {
            rig.start(rig.relay("anchor").lease(LEASE)).awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().keys(60).rate(300));
            Duration longestStop = Duration.ZERO;
            Duration longestGap = Duration.ZERO;
            List<Duration> terminations = new ArrayList<>();
            RelayChild process = rig.start(rig.relay("process-0").lease(LEASE));
            for (int round = 0; round < ROUNDS; round++) {
                List<Relay> here = new ArrayList<>();
                for (int i = 0; i < HERE; i++) {
                    here.add(rig.startHere(rig.relay("here-" + round + "-" + i).lease(LEASE)));
                }
                process.awaitStarted();
                awaitBalance(rig, HERE + 2);
                awaitAtWork(rig, process.name());
                long start = System.nanoTime();
                CompletableFuture<RelayChild.End> end = CompletableFuture.supplyAsync(process::stop);
                awaitOwnedByOthers(rig, process.name());
                terminations.add(Duration.ofNanos(System.nanoTime() - start));
                RelayChild next = round == ROUNDS - 1
                        ? process
                        : rig.start(rig.relay("process-" + (round + 1)).lease(LEASE));
                start = System.nanoTime();
                here.forEach(Relay::close);
                longestStop = longer(longestStop, end.join().took());
                awaitOwnedByOthers(rig, "here-" + round + "-%");
                longestGap = longer(longestGap, Duration.ofNanos(System.nanoTime() - start));
                process = next;
            }
            rig.fault(ROUNDS + " × SIGTERM, " + HERE * ROUNDS + " × close()");
            Collections.sort(terminations);
            Duration handOver = terminations.get(ROUNDS / 2);
            rig.figure("longest stop", longestStop);
            rig.figure("handed over after SIGTERM in", handOver);
            rig.figure("longest hand-over of " + HERE + " at once", longestGap);
            writers.stop();
            rig.assertSound(0);
            assertThat(longestStop).isLessThan(Duration.ofSeconds(30));
            // Noise only adds to it.
            assertThat(terminations.get(0)).as("the shortest").isLessThanOrEqualTo(Duration.ofSeconds(1));
            assertThat(longestGap).as("far below the lease").isLessThan(LEASE.dividedBy(2));
        }
    }

    private static void awaitOwnedByOthers(Rig rig, String relay) {
        Rig.await(
                "the shards of " + relay + " are owned again",
                () -> rig.number("SELECT count(*) FROM outbox_shard s LEFT JOIN outbox_relay r ON r.id = s.owner"
                                + " WHERE r.id IS NULL OR r.name LIKE '" + relay + "'")
                        == 0);
    }

    private static void awaitShare(Rig rig, String relay) {
        Rig.await(
                relay + " has its share",
                () -> rig.number("SELECT count(*) FROM outbox_shard s"
                                + " JOIN outbox_relay r ON r.id = s.owner WHERE r.name = '" + relay + "'")
                        > 20);
    }

    /** Otherwise shards that move because somebody has come would be taken for those of the one who leaves. */
    private static void awaitBalance(Rig rig, int relays) {
        Rig.await(
                "the shards are shared by " + relays,
                () -> rig.number(
                                "SELECT count(*) FROM (SELECT r.id FROM outbox_relay r JOIN outbox_shard s ON s.owner = r.id"
                                        + " GROUP BY r.id HAVING count(*) >= 256 / " + relays + ") fair")
                        == relays);
        awaitNoShardFree(rig);
    }

    /** The first sends of a new process take long: it has a connection to open, and much to load. */
    private static void awaitAtWork(Rig rig, String relay) {
        Rig.await(
                relay + " delivers",
                () -> rig.number("SELECT published FROM outbox_relay WHERE name = '" + relay + "'") > 100);
    }

    private static void awaitNoShardFree(Rig rig) {
        Rig.await(
                "every shard has an owner",
                () -> rig.number("SELECT count(*) FROM outbox_shard s"
                                + " LEFT JOIN outbox_relay r ON r.id = s.owner WHERE r.id IS NULL")
                        == 0);
    }

    private static Duration longer(Duration a, Duration b) {
        return a.compareTo(b) >= 0 ? a : b;
    }
}
