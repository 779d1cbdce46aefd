// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static io.postrider.faults.EffectHandlers.Kind.BATCHES;
import static io.postrider.faults.EffectHandlers.Kind.INBOX;
import static io.postrider.faults.EffectHandlers.Kind.PLAIN;
import static io.postrider.faults.EffectHandlers.Kind.SAME_TRANSACTION;
import static io.postrider.faults.Failpoint.after;
import static io.postrider.faults.Failpoint.before;
import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.faults.EffectHandlers.Kind;
import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import io.postrider.testkit.LedgerWriters;
import io.postrider.testkit.TcpProxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.ds.PGSimpleDataSource;

/** T01, T08, T09, T12 with handlers as the destination: effects in the same database happen once. */
@DisplayName("Handlers die, are replaced, lose answers and are starved")
class HandlerFaultsTest {
    private static final int WINDOW = 200;

    static Stream<Arguments> deaths() {
        List<Arguments> all = List.of(
                Arguments.of(SAME_TRANSACTION, before(Place.SETTLE, 60)),
                Arguments.of(SAME_TRANSACTION, after(Place.SETTLE, 60)),
                Arguments.of(SAME_TRANSACTION, before(Place.COMMIT, 60)),
                Arguments.of(SAME_TRANSACTION, after(Place.COMMIT, 60)),
                Arguments.of(SAME_TRANSACTION, before(Place.ANSWER, 60)),
                Arguments.of(BATCHES, after(Place.SETTLE, 5)),
                Arguments.of(BATCHES, before(Place.COMMIT, 5)),
                Arguments.of(BATCHES, after(Place.COMMIT, 5)),
                Arguments.of(INBOX, before(Place.SETTLE, 3)),
                Arguments.of(INBOX, after(Place.COMMIT, 60)),
                Arguments.of(INBOX, before(Place.COMMIT, 60)),
                Arguments.of(INBOX, before(Place.ANSWER, 60)),
                Arguments.of(PLAIN, before(Place.ANSWER, 60)),
                Arguments.of(PLAIN, before(Place.SETTLE, 3)),
                Arguments.of(PLAIN, after(Place.SETTLE, 3)));
        int step = Boolean.getBoolean("faults.all") ? 1 : 5;
        return IntStream.range(0, all.size()).filter(i -> i % step == 0).mapToObj(all::get);
    }

    @ParameterizedTest
    @Tag("T01")
    @Tag("sample")
    @Execution(ExecutionMode.CONCURRENT)
    @MethodSource("deaths")
    void everyEventHasItsEffectWhenTheProcessDies(Kind kind, Failpoint failpoint) {
        try (Rig rig = Rig.on(SharedServers.get(), "T01 handlers " + kind + " " + failpoint)) {
            rig.fault("kill " + failpoint);
            Effects effects = Effects.in(rig);
            LedgerWriters writers = rig.start(rig.writers().rate(150).keys(40));
            RelayChild victim = rig.start(handling(rig, "victim", kind).halt(failpoint));
            victim.awaitDeath();
            Relay survivor = rig.startHere(handling(rig, "survivor", kind));
            Rig.await("the survivor handles", () -> survivor.publishedCount() > 0);
            effects.assertSound(writers, kind == PLAIN ? WINDOW : 0);
            assertThat(rig.number("SELECT coalesce(max(attempt_count), 0) FROM outbox_history"))
                    .as("attempts")
                    .isZero();
        }
    }

    @Test
    @Tag("T09")
    @DisplayName("A relay sleeps through its lease while its handlers run")
    void whatAReplacedRelayWasHandlingIsRolledBackWhenItGoesOn() {
        try (Rig rig = Rig.on(SharedServers.get(), "T09 handlers of a paused relay")) {
            Effects effects = Effects.in(rig);
            RelaySetup slow =
                    rig.quickRelay("sleeper").window(WINDOW).handles(SAME_TRANSACTION, Duration.ofMillis(300));
            RelayChild sleeper = rig.start(slow).awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().rate(80).keys(40));
            Rig.await(
                    "the sleeper handles",
                    () -> rig.firstSettled("sleeper", Instant.EPOCH).isPresent());
            // Whenever that is, some of its handlers have made their effect and not committed it.
            Rig.await(
                    "transactions are open",
                    () -> rig.number("SELECT count(*) FROM pg_stat_activity"
                                    + " WHERE application_name = 'sleeper' AND state = 'idle in transaction'"
                                    + " AND datname = current_database()")
                            > 8);
            sleeper.pause();
            rig.fault("SIGSTOP in the middle of handlers, until another has taken over");
            Instant paused = Instant.now();
            Relay heir = rig.startHere(handling(rig, "heir", SAME_TRANSACTION));
            Rig.await("the heir has handled what the sleeper was at", () -> heir.publishedCount() > 100);
            rig.figure(
                    "taken over in",
                    Duration.between(paused, rig.firstSettled("heir", paused).orElseThrow()));
            sleeper.resume();
            Rig.await("the sleeper joins anew", () -> rig.number("""
                    SELECT count(*) FROM outbox_shard s JOIN outbox_relay r ON r.id = s.owner
                    WHERE r.name = 'sleeper'""") > 100);
            effects.assertSound(writers, 0);
            RelayChild.End end = sleeper.stop();
            rig.figure(end.undone() + " transactions of the sleeper rolled back");
            assertThat(end.undone()).as("handlers that found their event gone").isPositive();
        }
    }

    @Test
    @Tag("T08")
    @DisplayName("Answers to commits are lost")
    @Tag("sample")
    void anEffectIsMadeOnceWhereTheAnswersToCommitsAreLost() {
        Rig.Servers servers = SharedServers.get();
        try (Rig rig = Rig.on(servers, "T08 lost answers to handlers' commits");
                TcpProxy proxy = TcpProxy.to("127.0.0.1", servers.postgres().port())) {
            Effects effects = Effects.in(rig);
            RelaySetup setup = rig.quickRelay("relay").window(WINDOW);
            PGSimpleDataSource proxied = new PGSimpleDataSource();
            proxied.setUrl(setup.at(proxy.port()).url());
            EffectHandlers handlers = new EffectHandlers(proxied, "relay", Duration.ZERO);
            Relay relay = rig.closing(
                    RelayProcess.relay(setup, Trap.counting(), new RelayListener() {}, handlers.of(SAME_TRANSACTION)));
            relay.start();
            LedgerWriters writers = rig.start(rig.writers().rate(150).keys(40));
            for (int round = 0; round < 12; round++) {
                long before = relay.publishedCount();
                Rig.await("events are handled", () -> relay.publishedCount() > before + 20);
                proxy.swallowReplies();
                Rig.pause(Duration.ofMillis(50));
                // What was swallowed makes a connection useless: all of those are reset.
                proxy.pass();
            }
            rig.fault("answers of the database to handlers swallowed 12 times");
            effects.assertSound(writers, 0);
            rig.figure(handlers.undone() + " handlers undone");
            assertThat(rig.number("SELECT coalesce(max(attempt_count), 0) FROM outbox_history"))
                    .as("attempts")
                    .isZero();
        }
    }

    @Test
    @Tag("T12")
    @DisplayName("Handlers take all the time of a process")
    void aRelayWhoseHandlersTakeAllTheTimeOfTheProcessKeepsItsShare() {
        try (Rig rig = Rig.on(SharedServers.get(), "T12 starved relay")) {
            Effects effects = Effects.in(rig);
            RelaySetup starved = rig.quickRelay("starved")
                    .window(WINDOW)
                    .handles(SAME_TRANSACTION, Duration.ofMillis(500))
                    .burns(4 * Runtime.getRuntime().availableProcessors());
            RelayChild relay = rig.start(starved, "-XX:ActiveProcessorCount=1").awaitStarted();
            Relay other = rig.startHere(handling(rig, "other", SAME_TRANSACTION));
            LedgerWriters writers = rig.start(rig.writers().rate(60).keys(40));
            Rig.await(
                    "both have their share",
                    () -> rig.number("SELECT count(*) FROM outbox_shard s JOIN outbox_relay r"
                                            + " ON r.id = s.owner WHERE r.name = 'starved'")
                                    == 128
                            && other.publishedCount() > 0);
            List<String> share = share(rig, "starved");
            Rig.pause(Duration.ofSeconds(Rig.LONG ? 60 : 8));
            rig.fault("four threads for each processor take what time there is beside the handlers");
            assertThat(share(rig, "starved"))
                    .as("no shard of it has changed hands")
                    .hasSizeGreaterThanOrEqualTo(128)
                    .containsAll(share);
            assertThat(relay.isAlive()).isTrue();
            effects.assertSound(writers, 0);
        }
    }

    /** The shards of a relay, with their epochs. */
    private static List<String> share(Rig rig, String relay) {
        return rig.texts("SELECT s.shard || ' ' || s.epoch FROM outbox_shard s JOIN outbox_relay r ON r.id = s.owner"
                + " WHERE r.name = '" + relay + "'");
    }

    private static RelaySetup handling(Rig rig, String name, Kind kind) {
        return rig.quickRelay(name).window(WINDOW).handles(kind, Duration.ZERO);
    }
}
