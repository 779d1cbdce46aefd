// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may send an event at its commit, and when it falls to the owner of its shard. */
class LeaseRaceTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final String STATE = "status, holds, revision, attempt_count, coalesce(locked_by::text, 'free')";

    /** Longer than any machine stands still: no test waits for its end. */
    private static final Duration LEASE = Duration.ofMinutes(1);

    private Party owner;
    private LeasingWriter writer;

    @BeforeEach
    void join() {
        database.clear();
        owner = Party.owning(database, "owner");
        writer = new LeasingWriter(database, "writer", LEASE);
    }

    @AfterEach
    void close() {
        writer.close();
        owner.close();
    }

    @Test
    void theOwnerOfTheShardLeavesALeasedEventAndWhatIsBehindItAlone() {
        long leased = id(writer.append("k"));
        long behind = database.event("s", "k");
        long other = database.event("s", database.neighbourOf("k"));
        assertThat(state(leased)).isEqualTo("WAITING,t,0,0," + writer.relay.member());
        assertThat(owner.readIds()).containsExactly(other);
        expire(leased);
        assertThat(owner.readIds(other)).containsExactly(leased);
        assertThat(owner.readIds(other, leased)).containsExactly(behind);
    }

    @Test
    void whatHasNotBeenSentWhenItsLeaseRanOutGoesOnTogether() {
        List<OutboxEvent> events = List.of(writer.append("k"), writer.append("k"), writer.append("k"));
        long behind = database.event("s", "k");
        List<Long> ids = events.stream().map(LeaseRaceTest::id).toList();
        ids.forEach(LeaseRaceTest::expire);
        assertThat(owner.readIds()).containsExactly(ids.get(0));
        assertThat(owner.readIds(ids.get(0))).containsExactly(ids.get(1), ids.get(2), behind);
        assertThat(state(ids.get(2))).isEqualTo("PENDING,f,0,0,free");
    }

    @Test
    void aReadWaitsForNobodyWhoHasLockedAnEventWhoseLeaseHasRunOut() throws Exception {
        OutboxEvent locked = writer.append("k");
        OutboxEvent other = writer.append("j");
        expire(id(locked));
        expire(id(other));
        try (OpenTransaction settling = database.begin()) {
            settling.number("SELECT id FROM outbox_event WHERE id = " + id(locked) + " FOR UPDATE");
            assertThat(Background.start(owner::readIds).get()).containsExactly(id(locked), id(other));
            assertThat(state(id(other))).isEqualTo("PENDING,f,0,0,free");
        }
        assertThat(owner.readIds()).containsExactly(id(locked), id(other));
        assertThat(state(id(locked))).isEqualTo("PENDING,f,0,0,free");
    }

    @Test
    void aLeaseIsExtendedUnlessItHasRunOut() {
        OutboxEvent first = writer.append("k");
        OutboxEvent second = writer.append("j");
        expire(id(second));
        String before = database.column("SELECT clock_timestamp()").get(0);
        assertThat(writer.leases.extend(List.of(id(first), id(second)))).containsOnlyKeys(id(first));
        assertThat(database.row(
                        id(first),
                        "due_at BETWEEN timestamptz '" + before
                                + "' + interval '5 s' AND clock_timestamp() + interval '5 s'"))
                .isEqualTo("t");
    }

    @Test
    void severalOfAKeyAreLeasedByTheSameProcess() {
        OutboxEvent first = writer.append("k");
        OutboxEvent second = writer.append("k");
        assertThat(writer.sendable(first, second)).containsExactly(id(first), id(second));
    }

    @Test
    void nothingIsSentBehindAnEventThatIsNotLeasedByTheSameProcess() {
        try (LeasingWriter another = new LeasingWriter(database, "another", LEASE)) {
            another.append("leased by another");
            writer.append("lease ran out");
            expire(database.number("SELECT max(id) FROM outbox_event"));
            database.event("s", "pending");
            database.event("s", "retrying", "status = 'WAITING', holds = true, due_at = now() + interval '1 hour'");
            database.event("s", "dead", "status = 'DEAD', holds = true");
            for (String key : List.of("leased by another", "lease ran out", "pending", "retrying", "dead")) {
                OutboxEvent event = writer.append(key);
                assertThat(isLeased(event)).as(key).isTrue();
                LeaseStore.Found found = writer.read(event);
                assertThat(found.sendable()).as(key).isEmpty();
                assertThat(Party.ids(found.barred())).as(key).contains(id(event));
                assertThat(found.barredStreams()).as(key).isEmpty();
            }
        }
    }

    @Test
    void whatHoldsNobodyDoesNotStandInTheWay() {
        database.event("s", "k", "status = 'DEAD'");
        database.event("s", "k", "status = 'WAITING', due_at = now() + interval '1 hour'");
        database.event("another stream", "k");
        database.event("s", database.neighbourOf("k"));
        OutboxEvent event = writer.append("k");
        // Younger ones are nobody's reason to wait.
        database.event("s", "k");
        assertThat(writer.sendable(event)).containsExactly(id(event));
    }

    @Test
    void behindALongBacklogOfItsShardAnEventIsNotSent() {
        database.execute("INSERT INTO outbox_event (stream, event_key, event_type) SELECT 's', '"
                + database.neighbourOf("k") + "', 'T' FROM generate_series(1, 100)");
        OutboxEvent event = writer.append("k");
        assertThat(Party.ids(writer.read(event).barred())).containsExactly(id(event));
        database.execute("DELETE FROM outbox_event WHERE id = (SELECT min(id) FROM outbox_event)");
        assertThat(writer.sendable(event)).containsExactly(id(event));
    }

    @Test
    void anEventWithoutAKeyIsLeasedWhateverElseIsThere() {
        OutboxEvent event = OutboxEvent.of("s", "T").build();
        database.event("s", null);
        writer.outbox.transact(tx -> tx.append(event));
        assertThat(state(id(event))).isEqualTo("WAITING,f,0,0," + writer.relay.member());
        assertThat(writer.sendable(event)).containsExactly(id(event));
    }

    /** A transaction that does not see what others have committed since it began leases as well. */
    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    void underAFixedSnapshotWhatWasCommittedMeanwhileGoesFirst(int isolation) throws Exception {
        OutboxEvent event = OutboxEvent.of("s", "T").key("k").build();
        long[] meanwhile = new long[1];
        writer.outbox.transact(tx -> {
            tx.connection().setTransactionIsolation(isolation);
            try (Statement snapshot = tx.connection().createStatement()) {
                snapshot.execute("SELECT count(*) FROM outbox_event");
            }
            meanwhile[0] = database.event("s", "k");
            tx.append(event);
            tx.connection().commit();
            tx.connection().setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        });
        assertThat(isLeased(event)).isTrue();
        assertThat(Party.ids(writer.read(event).barred())).containsExactly(id(event));
        assertThat(owner.readIds()).containsExactly(meanwhile[0]);
    }

    @Test
    void aDelayedEventIsNotLeased() {
        OutboxEvent event =
                OutboxEvent.of("s", "T").key("k").delay(Duration.ofHours(1)).build();
        writer.outbox.transact(tx -> tx.append(event));
        assertThat(state(id(event))).isEqualTo("WAITING,f,0,0,free");
    }

    @Test
    void nothingIsSentOfAPausedStreamOrOneOfAnotherGroupOrByARelayWithoutAPlace() {
        database.execute("INSERT INTO outbox_stream (stream, relay_group, paused_at) VALUES ('s', 'default', now())");
        OutboxEvent event = writer.append("k");
        assertBarredStream(writer, event);
        database.execute("UPDATE outbox_stream SET paused_at = NULL, relay_group = 'others'");
        assertBarredStream(writer, event);
        database.execute("DELETE FROM outbox_stream");
        assertThat(writer.sendable(event)).containsExactly(id(event));
        try (LeasingWriter grouped = new LeasingWriter(database, "grouped", "others", LEASE)) {
            assertBarredStream(grouped, grouped.append("i"));
        }
        database.execute("UPDATE outbox_relay SET lease_until = now() - interval '1 s'");
        LeaseStore.Found found = writer.read(event);
        assertThat(found.sendable()).isEmpty();
        assertThat(found.barred()).isEmpty();
    }

    private static void assertBarredStream(LeasingWriter writer, OutboxEvent event) {
        LeaseStore.Found found = writer.read(event);
        assertThat(found.sendable()).isEmpty();
        assertThat(Party.ids(found.barred())).containsExactly(id(event));
        assertThat(found.barredStreams()).containsExactly("s");
    }

    @Test
    void whoIsHandedOverFirstBringsTheOlderOnesOfItsKeyAlong() {
        OutboxEvent first = writer.append("k");
        OutboxEvent second = writer.append("k");
        OutboxEvent other = writer.append("other");
        assertThat(writer.sendable(second)).containsExactly(id(first), id(second));
        assertThat(writer.sendable(other)).containsExactly(id(other));
    }

    @Test
    void behindAnOlderEventThatWasCommittedLateNothingIsSent() throws Exception {
        OutboxEvent late = OutboxEvent.of("s", "T").key("k").build();
        try (OpenTransaction other = database.begin()) {
            writer.outbox.on(other.connection()).append(late);
            OutboxEvent first = writer.append("k");
            assertThat(writer.sendable(first)).containsExactly(id(first));
            other.commit();
            LeaseStore.Found found = writer.read(first);
            assertThat(found.sendable()).isEmpty();
            assertThat(Party.ids(found.barred())).containsExactly(id(first));
            writer.leases.release(List.of(id(first)));
            assertThat(owner.readIds()).containsExactly(id(late), id(first));
        }
    }

    @Test
    void behindAnOlderOneThatWasGivenBackNothingIsSent() {
        OutboxEvent first = writer.append("k");
        OutboxEvent second = writer.append("k");
        OutboxEvent third = writer.append("k");
        writer.leases.release(List.of(id(second)));
        assertThat(writer.sendable(third)).containsExactly(id(first));
        assertThat(owner.readIds()).isEmpty();
    }

    @Test
    void aLeaseThatEndsSoonIsNotUsedAnyMore() {
        OutboxEvent first = writer.append("k");
        OutboxEvent second = writer.append("k");
        List<Long> sent;
        List<Long> read;
        do {
            // Once more where it has ended before both have looked.
            database.execute("UPDATE outbox_event SET status = 'WAITING', holds = true, locked_by = "
                    + writer.relay.member() + ", due_at = clock_timestamp() + interval '1 s' WHERE id = " + id(first));
            sent = writer.sendable(second);
            read = owner.readIds();
        } while (database.row(id(first), "due_at > clock_timestamp()").equals("f"));
        assertThat(sent).isEmpty();
        assertThat(read).isEmpty();
    }

    @Test
    void aSendMayBeStartedAsLongAsTwoSecondsOfTheLeaseAreLeft() {
        OutboxEvent event = writer.append("k");
        long before = System.nanoTime();
        Delivery delivery = writer.read(event).sendable().get(0);
        long after = System.nanoTime();
        long lease = LEASE.toNanos();
        long startBy = ((LeaseClaim) delivery.claim()).startBy();
        // The lease began with the INSERT, which was before the read.
        assertThat(startBy - before).isLessThan(lease - TimeUnit.SECONDS.toNanos(2) + (after - before));
        assertThat(delivery.claim().mayStart(startBy - 1)).isTrue();
        assertThat(delivery.claim().mayStart(startBy)).isFalse();
    }

    @Test
    void onlyTheLesseeReadsAndReleases() {
        OutboxEvent event = writer.append("k");
        try (LeasingWriter another = new LeasingWriter(database, "another", LEASE)) {
            assertThat(another.sendable(event)).isEmpty();
            another.leases.release(List.of(id(event)));
            another.leases.releaseAllBut(List.of());
            assertThat(another.leases.extend(List.of(id(event)))).isEmpty();
        }
        assertThat(isLeased(event)).isTrue();
        database.execute(
                "UPDATE outbox_relay SET lease_until = now() - interval '1 s' WHERE id = " + writer.relay.member());
        assertThat(writer.sendable(event)).isEmpty();
    }

    @Test
    void whatWasGivenBackIsAsIfItHadBeenAppendedWithoutALease() {
        OutboxEvent first = writer.append("k");
        OutboxEvent second = writer.append("j");
        writer.leases.releaseAllBut(List.of());
        assertThat(state(id(first))).isEqualTo("PENDING,f,0,0,free");
        assertThat(owner.readIds()).containsExactly(id(first), id(second));
    }

    /** Around the end of the lease: the owner judges it, the lessee does not know yet and gives it back. */
    @Test
    void aLateReleaseDoesNotUndoAVerdict() throws Exception {
        OutboxEvent event = writer.append("k");
        expire(id(event));
        List<Delivery> taken = owner.read();
        // As it would be if the read had not made an ordinary event of it.
        database.execute("UPDATE outbox_event SET status = 'WAITING', holds = true, locked_by = "
                + writer.relay.member() + ", due_at = clock_timestamp() + interval '5 s'");
        try (OpenTransaction judging = database.begin()) {
            assertThat(owner.in(judging).retry(taken, Duration.ofHours(1))).hasSize(1);
            Background<Boolean> releasing = Background.start(() -> {
                writer.leases.releaseAllBut(List.of());
                return true;
            });
            judging.awaitSomebodyBlocked();
            judging.commit();
            assertThat(releasing.get()).isTrue();
        }
        assertThat(state(id(event))).isEqualTo("WAITING,t,1,1,free");
    }

    @Test
    void aLateSuccessOfTheLesseeIsStillAFact() {
        OutboxEvent event = writer.append("k");
        List<Delivery> sent = writer.read(event).sendable();
        expire(id(event));
        assertThat(owner.readIds()).containsExactly(id(event));
        writer.leases.settle(sent);
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
        assertThat(database.number("SELECT count(*) FROM outbox_history")).isEqualTo(1);
    }

    @Test
    void peopleSeeWhoIsAtIt() {
        writer.append("k");
        assertThat(database.column("SELECT status || ' by ' || relay FROM outbox_status"))
                .containsExactly("PROCESSING by writer");
        expire(database.number("SELECT id FROM outbox_event"));
        assertThat(database.column("SELECT status || ' by ' || relay FROM outbox_status"))
                .containsExactly("PENDING by owner");
    }

    private static void expire(long id) {
        database.execute("UPDATE outbox_event SET due_at = clock_timestamp() WHERE id = " + id);
    }

    private static long id(OutboxEvent event) {
        return database.number("SELECT id FROM outbox_event WHERE event_id = '" + event.id() + "'");
    }

    private static String state(long id) {
        return database.row(id, STATE);
    }

    private static boolean isLeased(OutboxEvent event) {
        return !state(id(event)).endsWith("free");
    }
}
