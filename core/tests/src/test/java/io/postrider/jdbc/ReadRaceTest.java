// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a read may hand out, and to whom. */
class ReadRaceTest {
    static final TestDatabase database = TestDatabase.migrated();
    Party owner;

    @BeforeEach
    void join() {
        database.clear();
        owner = Party.owning(database, "owner");
        owner.reads(Party.Form.STEPS);
    }

    @AfterEach
    void close() {
        owner.close();
    }

    @Test
    void anOwnerReadsWhatIsCommittedOldestFirst() {
        long first = database.event("s", "k");
        long second = database.event("s", "k");
        long unkeyed = database.event("s", null);
        assertThat(owner.readIds()).containsExactly(first, second, unkeyed);
        assertThat(owner.read(Set.of()).owned()).hasSize(256);
    }

    @Test
    void theFirstRowsOfEveryShardAndStreamAreFound() {
        for (String stream : List.of("a", "m", "z")) {
            database.execute("INSERT INTO outbox_event (stream, event_key, event_type) SELECT '" + stream
                    + "', 'k' || n, 'T' FROM generate_series(1, 700) n");
        }
        database.execute("INSERT INTO outbox_stream (stream, relay_group, paused_at) VALUES ('m', 'default', now())");
        // Each holds its key, and is due to be tried again; what stands behind it is not.
        database.execute("INSERT INTO outbox_event (stream, event_key, event_type) SELECT 'r', 'k' || n, 'Retried'"
                + " FROM generate_series(1, 700) n; UPDATE outbox_event SET status = 'WAITING', holds = true"
                + " WHERE stream = 'r'; INSERT INTO outbox_event (stream, event_key, event_type) SELECT 'r', 'k' || n,"
                + " 'Behind' FROM generate_series(1, 700) n");
        assertThat(database.number("SELECT count(DISTINCT shard) FROM outbox_event WHERE stream = 'r'"))
                .isGreaterThan(200);
        List<Long> sendable =
                database
                        .column("SELECT id FROM outbox_event WHERE stream IN ('a', 'z') OR event_type = 'Retried'")
                        .stream()
                        .map(Long::valueOf)
                        .toList();
        List<Delivery> found = owner.read(Party.query(owner.ownership.all(), Set.of(), 5_000, 5_000, Long.MAX_VALUE))
                .deliveries();
        assertThat(Party.ids(found)).hasSize(2_100).containsExactlyInAnyOrderElementsOf(sendable);
    }

    @Test
    void nothingIsReadFromAShardWhoseEpochMoved() {
        database.event("s", "k");
        database.execute("UPDATE outbox_shard SET epoch = epoch + 1");
        assertNothingOwned();
    }

    @Test
    void nothingIsReadFromAnothersShard() {
        database.event("s", "k");
        database.execute("UPDATE outbox_shard SET owner = owner + 1");
        assertNothingOwned();
    }

    @Test
    void nothingIsReadByARelayWithoutARow() {
        database.event("s", "k");
        database.execute("DELETE FROM outbox_relay");
        assertNothingOwned();
    }

    @Test
    void nothingIsReadByARelayWhoseLeaseRanOut() {
        database.event("s", "k");
        database.execute("UPDATE outbox_relay SET lease_until = clock_timestamp() - interval '1 millisecond'");
        assertNothingOwned();
    }

    @Test
    void onlyTheShardsThatWereLostAreLeftOut() {
        for (int i = 0; i < 50; i++) {
            database.event("s", "k" + i);
        }
        database.execute("UPDATE outbox_shard SET epoch = epoch + 1 WHERE shard < 128");
        EventStore.Found found = owner.read(Set.of());
        assertThat(found.owned()).hasSize(128).allMatch(shard -> shard >= 128);
        assertThat(found.deliveries())
                .hasSize((int)
                        database.number("SELECT count(*) FROM outbox_event WHERE status = 'PENDING' AND shard >= 128"))
                .isNotEmpty();
    }

    @Test
    void aReadDoesNotWaitForATakeoverAndSeesItOnceItIsCommitted() throws Exception {
        long id = database.event("s", "k");
        try (OpenTransaction takeover = database.begin()) {
            takeover.execute("UPDATE outbox_shard SET owner = 0, epoch = epoch + 1");
            assertThat(owner.readIds()).containsExactly(id);
            takeover.commit();
        }
        assertNothingOwned();
    }

    @Test
    void whatIsInFlightIsNotReadAgain() {
        long first = database.event("s", "k");
        long second = database.event("s", "k");
        long due = database.event("s", null, "status = 'WAITING', due_at = clock_timestamp() - interval '1 second'");
        assertThat(owner.readIds()).containsExactly(first, second, due);
        assertThat(owner.readIds(first, due)).containsExactly(second);
    }

    @Test
    void whatWasCommittedLateIsFoundByTheNextReadAndBeforeYoungerEventsOfItsKey() throws Exception {
        try (OpenTransaction late = database.begin()) {
            late.execute("INSERT INTO outbox_event (stream, event_key, event_type) VALUES ('s', 'k', 'T')");
            long taken = database.event("s", "k");
            List<Delivery> first = owner.read();
            assertThat(Party.ids(first)).containsExactly(taken);
            owner.events.settle(first);
            long inFlight = database.event("s", "k");
            long younger = database.event("s", "k");
            late.commit();
            long lateId = database.number("SELECT min(id) FROM outbox_event WHERE status = 'PENDING'");
            assertThat(lateId).isLessThan(taken);
            assertThat(owner.readIds(inFlight)).containsExactly(lateId, younger);
            EventStore.Query one = Party.query(owner.ownership.all(), Set.of(inFlight), 1, 1, Long.MAX_VALUE);
            assertThat(Party.ids(owner.read(one).deliveries())).containsExactly(lateId);
        }
    }

    @Test
    void whatStandsBehindAHeldRowOfItsKeyWaits() {
        database.event("s", "k", "status = 'DEAD', holds = true");
        database.event("s", "k");
        database.event("s", "k", "status = 'WAITING', due_at = clock_timestamp() - interval '1 second'");
        long otherKey = database.event("s", "l");
        long otherStream = database.event("t", "k");
        long unkeyed = database.event("s", null);
        assertThat(owner.readIds()).containsExactly(otherKey, otherStream, unkeyed);
        assertThat(owner.read(Set.of()).holding()).hasSize(1);
    }

    @Test
    void aRowThatHoldsNobodyLetsItsKeyGo() {
        database.event("s", "k", "status = 'DEAD'");
        database.event("s", null, "status = 'DEAD'");
        long keyed = database.event("s", "k");
        long unkeyed = database.event("s", null);
        assertThat(owner.readIds()).containsExactly(keyed, unkeyed);
    }

    @Test
    void anOlderEventThatArrivesLateGoesBeforeTheOneThatHoldsItsKey() throws Exception {
        try (OpenTransaction late = database.begin()) {
            late.execute("INSERT INTO outbox_event (stream, event_key, event_type) VALUES ('s', 'k', 'T')");
            long holding = database.event("s", "k");
            assertThat(owner.retry(owner.read(), Duration.ofHours(1))).containsExactly(holding);
            database.event("s", "k");
            assertThat(owner.readIds()).isEmpty();
            late.commit();
            long lateId = database.number("SELECT min(id) FROM outbox_event WHERE status = 'PENDING'");
            assertThat(owner.readIds()).containsExactly(lateId);
            makeDue(holding);
            assertThat(owner.readIds()).containsExactly(lateId, holding);
            EventStore.Query one = Party.query(owner.ownership.all(), Set.of(), 1, 1, Long.MAX_VALUE);
            assertThat(Party.ids(owner.read(one).deliveries())).containsExactly(lateId);
            assertThat(owner.readIds(lateId)).containsExactly(holding);
        }
    }

    @Test
    void aPausedStreamIsNotRead() {
        database.event("paused", "k");
        database.event("paused", "l", "status = 'WAITING', due_at = clock_timestamp() - interval '1 second'");
        long open = database.event("open", "k");
        database.execute("INSERT INTO outbox_stream (stream, relay_group, paused_at)"
                + " VALUES ('paused', 'default', clock_timestamp()), ('open', 'default', NULL)");
        assertThat(owner.readIds()).containsExactly(open);
        database.execute("UPDATE outbox_stream SET paused_at = NULL");
        assertThat(owner.readIds()).hasSize(3);
    }

    @Test
    void everyGroupReadsItsOwnStreamsAndTheDefaultGroupThoseThatNobodyHas() {
        long nobodys = database.event("nobodys", "k");
        long theirs = database.event("theirs", "k");
        long waiting =
                database.event("theirs", "l", "status = 'WAITING', due_at = clock_timestamp() - interval '1 second'");
        database.event("nobodys", "l", "status = 'WAITING', due_at = clock_timestamp() - interval '1 second'");
        database.execute("INSERT INTO outbox_stream (stream, relay_group) VALUES ('theirs', 'other')");
        try (Party other = Party.owning(database, "other", "other")) {
            assertThat(other.readIds()).containsExactlyInAnyOrder(theirs, waiting);
            assertThat(other.read(Set.of()).newStreams()).isEmpty();
        }
        assertThat(owner.readIds()).hasSize(2).contains(nobodys).doesNotContain(theirs, waiting);
        assertThat(owner.read(Set.of()).newStreams()).containsExactly("nobodys");
    }

    @Test
    void streamsThatAreLeftOutOrNotAskedForAreNotRead() {
        long a = database.event("a", "k");
        long b = database.event("b", "k");
        long due = database.event("b", "l", "status = 'WAITING', due_at = clock_timestamp() - interval '1 second'");
        Map<Integer, Long> shards = owner.ownership.all();
        assertThat(Party.ids(owner.events
                        .read(new EventStore.Query(shards, Set.of(), 10, 10, 1000, Set.of("b"), null, false))
                        .deliveries()))
                .containsExactly(a);
        assertThat(Party.ids(owner.events
                        .read(new EventStore.Query(shards, Set.of(), 10, 10, 1000, Set.of(), "b", false))
                        .deliveries()))
                .containsExactly(b, due);
    }

    @Test
    void aWaitingEventIsReadWhenItIsDueByTheDatabasesClock() {
        long id = database.event("s", "k", "status = 'WAITING', due_at = clock_timestamp() + interval '1 hour'");
        EventStore.Found found = owner.read(Set.of());
        assertThat(found.deliveries()).isEmpty();
        assertThat(found.dueInMicros().orElseThrow()).isBetween(3_500_000_000L, 3_600_000_000L);
        makeDue(id);
        assertThat(owner.readIds()).containsExactly(id);
    }

    @Test
    void aDelayedEventWaitsAloneAndTheClockOfTheWriterDoesNotCount() {
        JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());
        outbox.transact(tx -> {
            tx.append(
                    OutboxEvent.of("s", "T").key("k").delay(Duration.ofHours(1)).build());
            tx.append(OutboxEvent.of("s", "T")
                    .key("k")
                    .notBefore(Instant.now().plusSeconds(3600))
                    .build());
            tx.append(OutboxEvent.of("s", "T")
                    .key("k")
                    .notBefore(Instant.now().minusSeconds(3600))
                    .build());
        });
        assertThat(database.column("SELECT status FROM outbox_event WHERE status <> 'DEAD' ORDER BY id"))
                .containsExactly("WAITING", "WAITING", "PENDING");
        assertThat(owner.readIds()).containsExactly(database.number("SELECT max(id) FROM outbox_event"));
    }

    @Test
    void aDelayedEventThatIsDueDoesNotOvertakeOlderEventsOfItsKey() {
        long older = database.event("s", "k");
        long due = database.event("s", "k", "status = 'WAITING', due_at = clock_timestamp() - interval '1 second'");
        EventStore.Query one = Party.query(owner.ownership.all(), Set.of(), 1, 1, Long.MAX_VALUE);
        assertThat(Party.ids(owner.read(one).deliveries())).containsExactly(older);
        assertThat(owner.readIds(older)).containsExactly(due);
    }

    @Test
    void aDelayedEventThatIsDueDoesNotWaitForWhatIsHeld() {
        database.event("s", "k", "status = 'DEAD', holds = true");
        database.event("s", "k");
        long due = database.event(
                "s", database.neighbourOf("k"), "status = 'WAITING', due_at = clock_timestamp() - interval '1 second'");
        assertThat(owner.readIds()).containsExactly(due);
    }

    @Test
    void theByteLimitStopsTheReadButLetsOneThrough() {
        for (int i = 0; i < 5; i++) {
            database.event("s", "k", "payload = repeat('x', 100)::bytea");
        }
        assertThat(readBytes(1)).isEqualTo(1);
        assertThat(readBytes(100)).isEqualTo(1);
        assertThat(readBytes(101)).isEqualTo(2);
        assertThat(readBytes(1000)).isEqualTo(5);
    }

    private int readBytes(long bytes) {
        return owner.read(Party.query(owner.ownership.all(), Set.of(), 100, 100, bytes))
                .deliveries()
                .size();
    }

    @Test
    void whereDeadEventsAreSkippedTheLaterOnesOfTheKeyNameTheOldest() {
        database.execute("INSERT INTO outbox_stream (stream, relay_group, on_dead) VALUES ('s', 'default', 'SKIP')");
        long before = database.event("s", "k");
        long oldest = database.event("s", "k", "status = 'DEAD'");
        database.event("s", "k", "status = 'DEAD'");
        long after = database.event("s", "k");
        long otherKey = database.event("s", "l");
        List<Delivery> found = owner.read();
        assertThat(Party.ids(found)).containsExactly(before, after, otherKey);
        assertThat(found.get(0).event().headers()).isEmpty();
        assertThat(found.get(1).event().headers())
                .containsExactly(Map.entry("postrider-gap", database.row(oldest, "event_id")));
        assertThat(found.get(2).event().headers()).isEmpty();
    }

    @Test
    void aTableThatWasEmptyWhenItWasAnalyzedIsNotWalkedForEveryShard() throws Exception {
        String some = "INSERT INTO outbox_event (stream, event_key, event_type)"
                + " SELECT 's', 'k' || n, 'T' FROM generate_series(1, %d) n";
        try (OpenTransaction old = database.begin();
                OpenTransaction counting = database.begin();
                Party reader = owner.in(counting)) {
            old.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
            old.number("SELECT count(*) FROM outbox_event");
            database.execute(some.formatted(20_000) + "; ANALYZE outbox_event");
            database.execute("DELETE FROM outbox_event; ANALYZE outbox_event");
            database.execute(some.formatted(10_000));
            EventStore.Found found = reader.read(Party.query(owner.ownership.all(), Set.of(), 4, 1000, Long.MAX_VALUE));
            assertThat(found.deliveries()).hasSize(1000);
            assertThat(found.part()).isEqualTo(sweeps());
            // Each of them once or twice, and not 256 times.
            assertThat(
                            counting.number(
                                    "SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'outbox_event'"))
                    .isLessThan(25_000);
        }
    }

    /** Whether a backlog is read by sweeps. */
    boolean sweeps() {
        return false;
    }

    private void assertNothingOwned() {
        EventStore.Found found = owner.read(Set.of());
        assertThat(found.deliveries()).isEmpty();
        assertThat(found.owned()).isEmpty();
    }

    static void makeDue(long id) {
        database.execute(
                "UPDATE outbox_event SET due_at = clock_timestamp() - interval '1 millisecond' WHERE id = " + id);
    }
}
