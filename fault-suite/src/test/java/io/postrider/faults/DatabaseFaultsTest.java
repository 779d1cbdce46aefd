// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.jdbc.JdbcOutbox;
import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import io.postrider.testkit.LedgerWriters;
import io.postrider.testkit.PostgresServer;
import io.postrider.testkit.TcpProxy;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** T06, T07 and T08: the database goes away and comes back, as a whole, session by session, and statement by statement. */
class DatabaseFaultsTest {
    private static final int WINDOW = 200;

    @Test
    @Tag("T06")
    @Tag("sample")
    @DisplayName("PostgreSQL crashes again and again")
    void relaysResumeByThemselvesWhenTheDatabaseCrashesAgainAndAgain() {
        try (PostgresServer postgres = SharedServers.postgres();
                Rig rig = Rig.on(new Rig.Servers(postgres, SharedServers.get().kafka()), "T06 database restarts")) {
            rig.start(rig.relay("relay-a").window(WINDOW)).awaitStarted();
            rig.start(rig.relay("relay-b").window(WINDOW)).awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().rate(300));
            Rig.await("events arrive", () -> rig.log().distinct() > 100);
            rig.breaksTheDatabase();
            long epochs = rig.number("SELECT sum(epoch) FROM outbox_shard");
            List<Duration> resumed = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                postgres.restartImmediate();
                resumed.add(bothSettle(rig, Instant.now()));
                Rig.pause(Duration.ofMillis(500));
            }
            Collections.sort(resumed);
            rig.fault("4 immediate restarts");
            rig.figure("resumed in at most", resumed.get(3));
            writers.stop();
            // Nobody died, unless a restart on a loaded machine outlasts a lease.
            boolean changedHands = rig.number("SELECT sum(epoch) FROM outbox_shard") != epochs;
            rig.assertSound(changedHands ? WINDOW : 0);
            // One may be noise, which only adds to it.
            assertThat(resumed.get(2)).as("all but the longest").isLessThanOrEqualTo(Duration.ofSeconds(2));
        }
    }

    /** How long it takes until the second of them has settled something. */
    private static Duration bothSettle(Rig rig, Instant from) {
        Rig.await(
                "both relays settle again",
                () -> rig.firstSettled("relay-a", from).isPresent()
                        && rig.firstSettled("relay-b", from).isPresent());
        Instant first = rig.firstSettled("relay-a", from).orElseThrow();
        Instant second = rig.firstSettled("relay-b", from).orElseThrow();
        return Duration.between(from, first.isAfter(second) ? first : second);
    }

    @Test
    @Tag("T07")
    @DisplayName("Sessions are terminated ten times a second")
    void relaysOutliveTheLossOfTheirSessionsTenTimesASecond() {
        try (Rig rig = Rig.on(SharedServers.get(), "T07 sessions terminated")) {
            rig.start(rig.relay("relay-a").window(WINDOW)).awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().rate(300));
            Rig.await("events arrive", () -> rig.log().distinct() > 100);
            long ended = 0;
            for (int i = 0; i < 40; i++) {
                ended += rig.number("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                        + " WHERE application_name = 'relay-a' AND datname = current_database()");
                Rig.pause(Duration.ofMillis(100));
            }
            rig.fault(ended + " sessions terminated");
            assertThat(ended).isGreaterThan(10);
            rig.figure("resumed in", rig.awaitSettled(Instant.now()));
            writers.stop();
            // The relay lives on and remembers what was delivered.
            rig.assertSound(0);
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
        }
    }

    @Test
    @Tag("T08")
    @DisplayName("Replies of statements are lost")
    void statementsThatFailBeforeOrAfterTheyRanChangeNothing() {
        try (Rig rig = Rig.on(SharedServers.get(), "T08 statements fail")) {
            rig.refuses();
            Random random = new Random(rig.seed());
            AtomicBoolean failing = new AtomicBoolean(true);
            Map<Failpoint.Moment, Set<Place>> failed = Map.of(
                    Failpoint.Moment.BEFORE, ConcurrentHashMap.newKeySet(),
                    Failpoint.Moment.AFTER, ConcurrentHashMap.newKeySet());
            AtomicInteger failures = new AtomicInteger();
            Trap trap = new Trap(reached -> {
                synchronized (random) {
                    boolean statement = reached.place() != Place.SEND && reached.place() != Place.ANSWER;
                    if (statement && failing.get() && random.nextInt(6) == 0) {
                        failures.incrementAndGet();
                        failed.getOrDefault(reached.moment(), Set.of()).add(reached.place());
                        throw new SQLException("The test's own failure " + reached, "08006");
                    }
                }
            });
            RelaySetup setup = rig.relay("relay").window(WINDOW).refuse("key-0005", Duration.ZERO);
            Relay relay = rig.closing(RelayProcess.relay(setup, trap, new RelayListener() {}));
            failing.set(false);
            relay.start();
            failing.set(true);
            LedgerWriters writers = rig.start(rig.writers().rate(300).keys(30));
            Set<Place> all = Set.of(Place.READ, Place.SETTLE, Place.VERDICT, Place.TICK);
            Rig.await(
                    "each kind of statement has failed before and after it ran",
                    () -> failed.values().stream().allMatch(places -> places.containsAll(all))
                            && writers.committed() > 800);
            failing.set(false);
            writers.stop();
            rig.fault(failures + " statements failed, before or after they ran");
            rig.assertSound(0);
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt"))
                    .as("each refused event has one attempt")
                    .isEqualTo(rig.number("SELECT count(*) FROM ledger WHERE key_name = 'key-0005'"));
        }
    }

    @Test
    @Tag("T08")
    @DisplayName("Answers to the commits of writers are lost")
    void whatWasCommittedWithoutAnAnswerIsDeliveredAndWhatWasNotIsNot() {
        Rig.Servers servers = SharedServers.get();
        try (Rig rig = Rig.on(servers, "T08 lost answers to writers' commits");
                TcpProxy proxy = TcpProxy.to("127.0.0.1", servers.postgres().port())) {
            rig.breaksTheDatabase();
            rig.startHere(rig.relay("relay").window(WINDOW));
            PGSimpleDataSource proxied = rig.writer();
            proxied.setPortNumbers(new int[] {proxy.port()});
            DoubtfulCommits doubtful = new DoubtfulCommits(JdbcOutbox.of(proxied));
            LedgerWriters writers =
                    rig.start(rig.writers(proxied, doubtful).threads(8).keys(60).rate(600));
            Random random = new Random(rig.seed());
            int cuts = 0;
            // A writer is at its commit in one cut out of many, so it may take more of them.
            while (cuts < 20 || (writers.unknown() < 10 && cuts < 200)) {
                long before = writers.committed();
                Rig.await("the writers commit", () -> writers.committed() > before + 50);
                proxy.swallowReplies();
                Rig.pause(Duration.ofMillis(random.nextInt(50)));
                if (cuts % 2 == 0) {
                    // Also what has not been answered yet: it may be committed or not.
                    proxy.reset();
                }
                // What was swallowed makes a connection useless: all of those are reset.
                proxy.pass();
                cuts++;
            }
            writers.stop();
            rig.fault(cuts + " times the database's answers to writers swallowed, and the connections cut");
            rig.assertSound(0);
            List<List<UUID>> unheard = doubtful.committedUnheard(rig);
            rig.figure(writers.unknown() + " commits in doubt, " + unheard.size() + " of them committed");
            assertThat(unheard).as("transactions that were committed unheard").isNotEmpty();
            assertThat(rig.number("SELECT count(*) FROM ledger"))
                    .as("the ledger has what was answered and what was not")
                    .isEqualTo(writers.committed()
                            + unheard.stream().mapToInt(List::size).sum());
            assertThat(rig.number("SELECT coalesce(max(attempt_count), 0) FROM outbox_history"))
                    .as("attempts")
                    .isZero();
        }
    }
}
