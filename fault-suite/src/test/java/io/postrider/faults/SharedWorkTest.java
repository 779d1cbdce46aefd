// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.relay.Relay;
import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.LedgerWriters;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T16 and T55: relays come and go in order while events are written, also while the broker is away. */
class SharedWorkTest {
    /** All of it if the whole suite is asked for, else a part. */
    private static final boolean WHOLE = Boolean.getBoolean("faults.all");

    private static final int ROUNDS = Rig.LONG ? 20 : 4;
    /** Of so many stops the shortest one is judged. */
    private static final int TRIES = 4;

    private static final int HERE = 4;
    private static final int WINDOW = 50;
    /** Longer than any hand-over: shards that were not given up would be missed for as long. */
    private static final Duration LEASE = Duration.ofSeconds(30);

    private static final Duration LONGEST_STOP = Duration.ofSeconds(30);
    private static final int SIGTERM = 143;

    @Test
    @Tag("T16")
    @Tag("sample")
    @DisplayName("Relays join and leave")
    void keysStayInOrderAndNothingComesTwiceWhileRelaysJoinAndLeave() {
        int few = WHOLE ? 1 : 2;
        int many = WHOLE ? 8 : 3;
        try (Rig rig = Rig.on(SharedServers.get(), "T16 " + few + " to " + many + " to " + few + " relays")) {
            Deque<RelayChild> here = new ArrayDeque<>();
            while (here.size() < few) {
                here.add(rig.start(rig.relay("relay-" + (here.size() + 1)).lease(LEASE)));
            }
            here.forEach(RelayChild::awaitStarted);
            // With more keys, since each of eight must have some.
            LedgerWriters writers = rig.start(rig.writers()
                    .threads(4)
                    .keys(WHOLE ? 100 : 40)
                    .rate(WHOLE ? 200 : 500)
                    .lateCommits(0.1, Duration.ofMillis(300)));
            Rig.await("events arrive", () -> rig.log().distinct() > 500);
            while (here.size() < many) {
                here.add(rig.start(rig.relay("relay-" + (here.size() + 1)).lease(LEASE))
                        .awaitStarted());
                awaitBalance(rig, here.size());
                awaitFirst(rig, here.getLast().name());
            }
            List<RelayChild.End> ends = new ArrayList<>();
            Duration longestGap = Duration.ZERO;
            while (here.size() > few) {
                long start = System.nanoTime();
                ends.add(here.remove().stop());
                awaitNoShardFree(rig);
                longestGap = longer(longestGap, Duration.ofNanos(System.nanoTime() - start));
                awaitMore(rig);
            }
            rig.fault((many - few) + " relays join one by one, " + (many - few) + " leave, the oldest first");
            rig.figure("left in at most", longestStop(ends));
            rig.figure("every shard owned again after at most", longestGap);
            writers.stop();
            rig.assertSound(0);
            here.forEach(each -> ends.add(each.stop()));
            assertThat(ends).hasSize(many).allSatisfy(end -> {
                assertThat(end.exitCode()).isEqualTo(SIGTERM);
                assertThat(end.published()).isPositive();
            });
            assertThat(longestGap).as("far below the lease").isLessThan(LEASE.dividedBy(2));
        }
    }

    @Test
    @Tag("T55")
    @DisplayName("Relays stop under load")
    void relaysThatStopUnderLoadLeaveNoDuplicateAndNoGap() {
        try (Rig rig = Rig.on(SharedServers.get(), "T55 graceful stops" + (Rig.LONG ? " (long)" : ""))) {
            rig.start(rig.relay("anchor").lease(LEASE)).awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().keys(60).rate(300));
            Duration longestGap = Duration.ZERO;
            List<RelayChild.End> ends = new ArrayList<>();
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
                // Every other one is told twice.
                CompletableFuture<RelayChild.End> end =
                        CompletableFuture.supplyAsync(round % 2 == 0 ? process::stop : process::stopTwice);
                awaitOwnedByOthers(rig, process.name());
                terminations.add(Duration.ofNanos(System.nanoTime() - start));
                RelayChild next = round == ROUNDS - 1
                        ? process
                        : rig.start(rig.relay("process-" + (round + 1)).lease(LEASE));
                start = System.nanoTime();
                here.forEach(Relay::close);
                ends.add(end.join());
                awaitOwnedByOthers(rig, "here-" + round + "-%");
                longestGap = longer(longestGap, Duration.ofNanos(System.nanoTime() - start));
                process = next;
            }
            rig.fault(ROUNDS + " × SIGTERM, half of them twice, " + HERE * ROUNDS + " × close()");
            Duration handOver = terminations.stream().sorted().toList().get(ROUNDS / 2);
            rig.figure("longest stop", longestStop(ends));
            rig.figure("handed over after SIGTERM in", handOver);
            rig.figure("longest hand-over of " + HERE + " at once", longestGap);
            writers.stop();
            rig.assertSound(0);
            assertThat(ends).extracting(RelayChild.End::exitCode).containsOnly(SIGTERM);
            assertThat(longestStop(ends)).isLessThan(LONGEST_STOP);
            for (int i = 0; i < ROUNDS; i += TRIES) {
                // Noise only adds to it.
                assertThat(Collections.min(terminations.subList(i, i + TRIES)))
                        .as("the shortest of four")
                        .isLessThanOrEqualTo(Duration.ofSeconds(1));
            }
            assertThat(longestGap).as("far below the lease").isLessThan(LEASE.dividedBy(2));
        }
    }

    @Test
    @Tag("T55")
    @DisplayName("Relays stop while the broker is away")
    void relaysThatStopWhileTheBrokerIsAwayEndInTimeAndLoseNothing() {
        try (KafkaServer kafka = SharedServers.kafka();
                Rig rig =
                        Rig.on(new Rig.Servers(SharedServers.get().postgres(), kafka), "T55 stops without a broker")) {
            // It waits for answers for longer than its stop may take; the other one soon knows that none will come.
            RelayChild patient = rig.start(rig.relay("patient").window(WINDOW).lease(LEASE));
            RelayChild informed =
                    rig.start(rig.relay("informed").window(WINDOW).lease(LEASE).sendTimeout(Duration.ofSeconds(2)));
            patient.awaitStarted();
            informed.awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().rate(200).keys(60));
            awaitBalance(rig, 2);
            awaitFirst(rig, patient.name());
            awaitFirst(rig, informed.name());
            kafka.kill();
            Rig.await("more events wait than may be under way", () -> waiting(rig) > 2 * WINDOW);
            awaitReport(rig, patient.name(), "in_flight > 0");
            CompletableFuture<RelayChild.End> end = CompletableFuture.supplyAsync(patient::stopTwice);
            awaitReport(rig, informed.name(), "'" + rig.stream() + "' = ANY (closed)");
            List<RelayChild.End> ends = List.of(informed.stopTwice(), end.join());
            rig.fault("broker killed, then two relays stopped by two SIGTERMs each");
            rig.figure("informed of the outage stopped in", ends.get(0).took());
            rig.figure("with sends unanswered in", ends.get(1).took());
            rig.figure(waiting(rig) + " waited");
            assertThat(rig.number("SELECT count(*) FROM outbox_relay"))
                    .as("relays that have not left their place")
                    .isZero();

            kafka.startAgain();
            rig.start(rig.relay("next").window(WINDOW).lease(LEASE)).awaitStarted();
            awaitFirst(rig, "next");
            writers.stop();
            // What was under way when the broker died.
            rig.assertSound(2 * WINDOW);
            assertThat(ends).extracting(RelayChild.End::exitCode).containsOnly(SIGTERM);
            assertThat(longestStop(ends)).isLessThan(LONGEST_STOP);
            assertThat(patient.logLines()).anyMatch(line -> line.contains("events unanswered"));
        }
    }

    private static long waiting(Rig rig) {
        return rig.number("SELECT count(*) FROM outbox_event");
    }

    private static void awaitReport(Rig rig, String relay, String what) {
        Rig.await(
                relay + " reports " + what,
                () -> rig.number("SELECT count(*) FROM outbox_relay WHERE name = '" + relay + "' AND " + what) == 1);
    }

    private static void awaitFirst(Rig rig, String relay) {
        Rig.await(
                relay + " delivers",
                () -> rig.firstSettled(relay, Instant.EPOCH).isPresent());
    }

    private static void awaitMore(Rig rig) {
        int arrived = rig.log().distinct();
        Rig.await("more events arrive", () -> rig.log().distinct() > arrived + 200);
    }

    private static Duration longestStop(List<RelayChild.End> ends) {
        return ends.stream().map(RelayChild.End::took).max(Duration::compareTo).orElseThrow();
    }

    private static void awaitOwnedByOthers(Rig rig, String relay) {
        Rig.await(
                "the shards of " + relay + " are owned again",
                () -> rig.number("SELECT count(*) FROM outbox_shard s LEFT JOIN outbox_relay r ON r.id = s.owner"
                                + " WHERE r.id IS NULL OR r.name LIKE '" + relay + "'")
                        == 0);
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
        awaitReport(rig, relay, "published > 100");
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
