// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.ops.Retention;
import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import io.postrider.table.TableNames;
import io.postrider.testkit.LedgerWriters;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T36, T38, T45 and T47: a database in which others hold snapshots, connections and locks. */
class CrowdedDatabaseTest {
    private static final int WINDOW = 1_000;
    private static final int ROUNDS = 20;
    private static final int OLD_ROWS = 10_000;
    private static final Duration LEASE = Duration.ofSeconds(4);

    @Test
    @Tag("T36")
    @DisplayName("A transaction holds an old snapshot under load")
    void anOldSnapshotDoesNotSlowTheRelayBelowItsWriters() throws SQLException {
        Duration window = Duration.ofSeconds(Rig.LONG ? 30 : 4);
        int windows = Rig.LONG ? 10 : 4;
        int rate = Rig.LONG ? 2_000 : 500;
        try (Rig rig = Rig.on(SharedServers.get(), "T36 old snapshot");
                Connection holder = rig.dataSource().getConnection()) {
            rig.start(rig.relay("relay")).awaitStarted();
            holder.setAutoCommit(false);
            holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            try (Statement statement = holder.createStatement()) {
                statement.executeQuery("SELECT count(*) FROM outbox_event").close();
            }
            LedgerWriters writers =
                    // The snapshot also keeps what the writers replace, so they have many keys.
                    rig.start(rig.writers().threads(8).rate(rate).keys(5_000).rollbacks(0));
            Rig.await("events arrive", () -> rig.log().distinct() > 100);
            double least = 1;
            long start = System.nanoTime();
            long first = writers.committed();
            for (int i = 0; i < windows; i++) {
                long committed = writers.committed();
                int delivered = rig.log().distinct();
                Rig.pause(window);
                assertThat(writers.committed()).as("the writers go on").isGreaterThan(committed);
                double share = (double) (rig.log().distinct() - delivered) / (writers.committed() - committed);
                least = Math.min(least, share);
            }
            double perSecond = (writers.committed() - first) / ((System.nanoTime() - start) / 1e9);
            rig.fault("a REPEATABLE READ transaction open for "
                    + window.multipliedBy(windows).toSeconds() + " s");
            holder.rollback();
            writers.stop();
            rig.assertSound(0);
            rig.figure(Math.round(perSecond) + " committed per second");
            rig.figure(Math.round(least * 100) + " % of what was committed delivered in the worst window");
            assertThat(least).isGreaterThanOrEqualTo(0.95);
            assertThat(perSecond)
                    .as("what the writers committed; this machine may be too slow for them")
                    .isGreaterThanOrEqualTo(0.75 * rate);
        }
    }

    @Test
    @Tag("T38")
    @Tag("sample")
    @DisplayName("The application has taken every connection")
    void aRelayKeepsItsConnectionsWhenTheApplicationHasAllOthers() throws SQLException {
        try (Rig rig = Rig.on(SharedServers.get(), "T38 pool exhausted");
                BoundedPool pool = new BoundedPool(RelayProcess.source(rig.relay("relay")), 8)) {
            // Would take the place, and the shards, of one that does not renew its lease.
            rig.startHere(rig.relay("other").lease(LEASE));
            Relay relay = rig.startOn(pool.dataSource(), rig.relay("relay").lease(LEASE));
            LedgerWriters writers = rig.start(rig.writers().rate(300));
            Rig.await(
                    "both have their share and deliver",
                    () -> rig.number("SELECT count(*) FROM outbox_shard s JOIN outbox_relay r ON r.id = s.owner"
                                            + " WHERE r.name = 'relay'")
                                    == 128
                            && relay.publishedCount() > 50);
            List<Connection> taken = pool.takeAll();
            Duration held = LEASE.multipliedBy(2);
            rig.fault("the application holds the other " + taken.size() + " connections of the pool for two leases");
            assertThat(taken).isNotEmpty();
            long before = relay.publishedCount();
            long epochs = rig.number("SELECT sum(epoch) FROM outbox_shard");
            Rig.pause(held);
            Rig.await("the relay goes on", () -> relay.publishedCount() > before + 300);
            assertThat(rig.number("SELECT sum(epoch) FROM outbox_shard")).isEqualTo(epochs);
            for (Connection connection : taken) {
                connection.close();
            }
            writers.stop();
            rig.assertSound(0);
        }
    }

    @Test
    @Tag("T45")
    @DisplayName("Statements end with deadlocks and serialization failures")
    void statementsThatTheDatabaseAbortsAreRepeated() {
        try (Rig rig = Rig.on(SharedServers.get(), "T45 aborted statements")) {
            Random random = new Random(rig.seed());
            AtomicLong aborted = new AtomicLong();
            Set<Place> places = ConcurrentHashMap.newKeySet();
            AtomicBoolean aborting = new AtomicBoolean();
            Trap trap = new Trap(reached -> {
                synchronized (random) {
                    boolean statement = reached.place() != Place.SEND && reached.place() != Place.ANSWER;
                    if (statement
                            && reached.moment() == Failpoint.Moment.BEFORE
                            && aborting.get()
                            && random.nextInt(5) == 0) {
                        String state = random.nextBoolean() ? "40001" : "40P01";
                        aborted.incrementAndGet();
                        places.add(reached.place());
                        throw new SQLException("Aborted by the test", state);
                    }
                }
            });
            Relay relay = rig.closing(RelayProcess.relay(rig.relay("relay").window(200), trap, new RelayListener() {}));
            relay.start();
            aborting.set(true);
            LedgerWriters writers = rig.start(rig.writers().rate(300));
            Rig.await(
                    "reads, settles and renewals were aborted",
                    () -> aborted.get() > 20
                            && places.containsAll(Set.of(Place.READ, Place.SETTLE, Place.TICK))
                            && writers.committed() > 600);
            aborting.set(false);
            writers.stop();
            rig.fault(aborted.get() + " statements ended with 40001 or 40P01");
            rig.assertSound(0);
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
        }
    }

    private static String makePartition(Rig rig, LocalDate day) {
        String name = "outbox_history_" + day.format(DateTimeFormatter.BASIC_ISO_DATE);
        rig.execute("CREATE TABLE " + name + " (LIKE outbox_history INCLUDING ALL)");
        // Before it can be dropped, which the relay does too.
        rig.execute("""
                INSERT INTO %s (id, event_id, stream, event_key, event_type, payload, payload_kept, headers,
                                occurred_at, attempt_count, created_at, outcome, settled_at, settled_by)
                SELECT n, gen_random_uuid(), 'old', 'key-' || n %% 50, 'Old', decode(repeat('00', 200), 'hex'), true,
                       '{}', at, 0, at, 'PUBLISHED', at, 'relay'
                FROM generate_series(1, %d) n,
                     LATERAL (SELECT timestamptz '%s 00:00Z' + n * interval '1 second' AS at) settled
                """.formatted(name, OLD_ROWS, day));
        rig.execute("ALTER TABLE outbox_history ATTACH PARTITION " + name + " FOR VALUES FROM ('" + day
                + " 00:00Z') TO ('" + day.plusDays(1) + " 00:00Z')");
        return name;
    }

    private static boolean isThere(Rig rig, String partition) {
        return rig.number("SELECT count(*) FROM pg_class WHERE relname = '" + partition + "'") > 0;
    }

    @Test
    @Tag("T47")
    @DisplayName("Old history is dropped under load")
    void droppingOldHistoryHoldsNobodyUp() throws SQLException {
        try (Rig rig = Rig.on(SharedServers.get(), "T47 partitions dropped");
                Connection looking = rig.dataSource().getConnection()) {
            rig.start(rig.relay("relay").window(WINDOW)).awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().rate(400));
            Rig.await("events arrive", () -> rig.log().distinct() > 200);
            Retention retention = new Retention(rig.dataSource(), TableNames.ofDefaults(), Duration.ofDays(7));
            LockWaits waits = new LockWaits(looking);
            Instant start = Instant.now();
            for (int round = 0; round < ROUNDS; round++) {
                // One at a time: a run drops all that there are. It gives way to others, and the relay drops old ones
                // too.
                String old = makePartition(rig, LocalDate.now(ZoneOffset.UTC).minusDays(20 + round));
                Rig.await(old + " is dropped", () -> {
                    CompletableFuture<?> dropping = CompletableFuture.supplyAsync(retention::run);
                    while (!dropping.isDone()) {
                        waits.look();
                    }
                    dropping.join();
                    return !isThere(rig, old);
                });
                rig.awaitSettled(Instant.now());
            }
            rig.fault(ROUNDS + " partitions of " + OLD_ROWS + " rows dropped under load, one after the other");
            Duration longest = longestGap(rig, start);
            rig.figure("longest time without a settle", longest);
            rig.figure("longest wait for a lock", waits.longest());
            writers.stop();
            rig.assertSound(0);
            // The lock is given up after 100 ms; a look and a busy machine add to what is seen.
            assertThat(waits.longest()).isLessThanOrEqualTo(Duration.ofMillis(250));
            assertThat(longest).isLessThanOrEqualTo(Duration.ofSeconds(1));
        }
    }

    private static Duration longestGap(Rig rig, Instant from) {
        return Duration.ofMillis(rig.number("""
                SELECT (extract(epoch FROM max(gap)) * 1000)::bigint
                FROM (SELECT settled_at - lag(settled_at) OVER (ORDER BY settled_at) AS gap FROM outbox_history
                      WHERE settled_at > '%s') settles""".formatted(from)));
    }
}
