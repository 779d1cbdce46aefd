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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T36, T38, T45 and T47: a database in which others hold snapshots, connections and locks. */
class CrowdedDatabaseTest {
    private static final int WINDOW = 1_000;

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
        }
    }

    @Test
    @Tag("T38")
    @Tag("sample")
    @DisplayName("The application has taken every connection")
    void aRelayKeepsItsConnectionsWhenTheApplicationHasAllOthers() throws SQLException {
        try (Rig rig = Rig.on(SharedServers.get(), "T38 pool exhausted");
                BoundedPool pool = new BoundedPool(rig.dataSource(), 8)) {
            Relay relay = rig.startOn(pool.dataSource(), rig.relay("relay").window(WINDOW));
            LedgerWriters writers = rig.start(rig.writers().rate(300));
            Rig.await("events arrive", () -> rig.log().distinct() > 100);
            List<Connection> taken = pool.takeAll();
            rig.fault("the application holds the other " + taken.size() + " connections of the pool for 6 s");
            assertThat(taken).isNotEmpty();
            long before = relay.publishedCount();
            long epochs = rig.number("SELECT sum(epoch) FROM outbox_shard");
            Rig.pause(Duration.ofSeconds(6));
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
                        throw new SQLException("Aborted by the test", state);
                    }
                }
            });
            Relay relay = rig.closing(RelayProcess.relay(rig.relay("relay").window(200), trap, new RelayListener() {}));
            relay.start();
            aborting.set(true);
            LedgerWriters writers = rig.start(rig.writers().rate(300).events(600));
            writers.awaitDone(Rig.PATIENCE);
            Rig.await("statements were aborted", () -> aborted.get() > 20);
            aborting.set(false);
            rig.fault(aborted.get() + " statements ended with 40001 or 40P01");
            rig.assertSound(0);
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
        }
    }

    private static void makePartition(Rig rig, LocalDate day) {
        String name = "outbox_history_" + day.format(DateTimeFormatter.BASIC_ISO_DATE);
        rig.execute("CREATE TABLE " + name + " (LIKE outbox_history INCLUDING ALL)");
        rig.execute("ALTER TABLE outbox_history ATTACH PARTITION " + name + " FOR VALUES FROM ('" + day
                + " 00:00Z') TO ('" + day.plusDays(1) + " 00:00Z')");
    }

    @Test
    @Tag("T47")
    @DisplayName("Old history is dropped under load")
    void droppingOldHistoryHoldsNobodyUp() {
        try (Rig rig = Rig.on(SharedServers.get(), "T47 partitions dropped")) {
            rig.start(rig.relay("relay").window(WINDOW)).awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().rate(400));
            Rig.await("events arrive", () -> rig.log().distinct() > 200);
            // Not before: a relay that starts tidies up.
            for (int day = 20; day < 40; day++) {
                makePartition(rig, LocalDate.now(ZoneOffset.UTC).minusDays(day));
            }
            Retention retention = new Retention(rig.dataSource(), TableNames.ofDefaults(), Duration.ofDays(7));
            int dropped = 0;
            Duration longest = Duration.ZERO;
            for (int i = 0; i < 20; i++) {
                Instant before = Instant.now();
                dropped += retention.run().partitionsDropped();
                Duration gap = rig.awaitSettled(before);
                longest = gap.compareTo(longest) > 0 ? gap : longest;
                Rig.pause(Duration.ofMillis(200));
            }
            rig.fault(dropped + " partitions dropped under load");
            rig.figure("longest time without a settle", longest);
            writers.stop();
            rig.assertSound(0);
            assertThat(dropped).isGreaterThanOrEqualTo(20);
            assertThat(longest).isLessThanOrEqualTo(Duration.ofSeconds(2));
        }
    }
}
