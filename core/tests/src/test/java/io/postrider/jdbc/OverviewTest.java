// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.ops.Actor;
import io.postrider.ops.Backlog;
import io.postrider.ops.Checkup;
import io.postrider.ops.HeldKeys;
import io.postrider.ops.History;
import io.postrider.ops.Relays;
import io.postrider.ops.Streams;
import io.postrider.ops.Undelivered;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What people see of what is stuck, and of who delivers. */
class OverviewTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final String FAILED = "status = 'WAITING', holds = true, attempt_count = 1,"
            + " due_at = clock_timestamp() + interval '1 hour', last_error_code = 'BUSY'";
    private static final String LEASED =
            "status = 'WAITING', holds = true, locked_by = 7, due_at = clock_timestamp() + interval '1 hour'";

    @BeforeEach
    void clear() {
        database.clear();
    }

    @Test
    void theBacklogTellsApartWhatEventsWaitFor() {
        database.event("a", "k1");
        database.event("a", "k1", "created_at = clock_timestamp() - interval '90 seconds'");
        database.event("a", "k2", FAILED);
        database.event("a", "k3", LEASED);
        database.event("a", "k4", "status = 'WAITING', due_at = clock_timestamp() + interval '1 hour'");
        database.event("a", "k5", "status = 'DEAD', holds = true");
        database.event("a", "k5", "status = 'DEAD', holds = true");
        database.event("a", "k6", "status = 'DEAD'");
        database.event("b", null, "status = 'DEAD'");
        database.event("b", "k7", "status = 'UNKNOWN', holds = true");
        database.event("b", "k7", "status = 'UNKNOWN', holds = true");
        database.execute("INSERT INTO outbox_stream (stream, relay_group) VALUES ('a', 'g'), ('idle', 'g')");
        Streams.of(database.dataSource()).pause("idle", new Actor("kim", "broker moves"));

        List<Backlog.Stream> streams = Backlog.of(database.dataSource()).streams();
        assertThat(streams).extracting(Backlog.Stream::name).containsExactly("a", "b", "idle");
        Backlog.Stream a = streams.get(0);
        assertThat(a.group()).contains("g");
        assertThat(List.of(a.pending(), a.retrying(), a.delayed(), a.leased(), a.heldKeys(), a.dead()))
                .containsExactly(2L, 1L, 1L, 1L, 2L, 3L);
        assertThat(a.pause()).isEmpty();
        Backlog.Stream b = streams.get(1);
        assertThat(b.group()).isEmpty();
        assertThat(List.of(b.dead(), b.unknown(), b.heldKeys())).containsExactly(1L, 2L, 1L);
        assertThat(b.oldest()).as("the dead are not late").isEmpty();
        assertThat(streams.get(2).pause().orElseThrow().reason()).isEqualTo("broker moves");
    }

    @Test
    void theOldestIsTheOneThatWasAppendedFirstInWhateverShard() {
        database.event("s", "k1", "created_at = clock_timestamp() - interval '2 hours'");
        for (int i = 0; i < 20; i++) {
            database.event("s", "other" + i);
        }
        assertThat(oldest()).isBetween(Duration.ofMinutes(119), Duration.ofMinutes(121));
        database.execute("DELETE FROM outbox_event WHERE event_key = 'k1'");
        assertThat(oldest()).isLessThan(Duration.ofMinutes(1));
        database.event("s", "k2", FAILED + ", created_at = clock_timestamp() - interval '1 hour'");
        assertThat(oldest()).isBetween(Duration.ofMinutes(59), Duration.ofMinutes(61));
    }

    @Test
    void whatItsWriterDelayedIsPendingOnceItIsDueAndLateFromThenOn() {
        database.event(
                "s",
                "k1",
                "status = 'WAITING', due_at = clock_timestamp() - interval '1 hour',"
                        + " created_at = clock_timestamp() - interval '5 hours'");
        database.event("s", "k2", "status = 'WAITING', due_at = clock_timestamp() + interval '1 hour'");
        Backlog.Stream stream = Backlog.of(database.dataSource()).streams().get(0);
        assertThat(List.of(stream.pending(), stream.delayed())).containsExactly(1L, 1L);
        assertThat(oldest()).isBetween(Duration.ofMinutes(59), Duration.ofMinutes(61));
    }

    @Test
    void countsStopAtTheBound() {
        database.execute("INSERT INTO outbox_event (stream, event_type) SELECT 's', 'T' FROM generate_series(1, 30)");
        Backlog.Stream s = Backlog.of(database.dataSource()).upTo(20).streams().get(0);
        assertThat(s.pending()).isEqualTo(20);
        assertThat(Backlog.of(database.dataSource()).streams().get(0).pending()).isEqualTo(30);
        assertThatThrownBy(() -> Backlog.of(database.dataSource()).upTo(0)).hasMessageContaining("not at 0");
    }

    @Test
    void aHeldKeyNamesWhatHoldsItAndHowManyWait() {
        long holder = database.event("s", "k", "status = 'DEAD', holds = true, last_error_code = 'BAD'");
        database.event("s", "k", "status = 'DEAD', holds = true");
        database.event("s", "k");
        database.event("s", "k");
        database.event("s", database.neighbourOf("k"));
        database.event("other", "k", FAILED);
        database.event("s", "leased", LEASED);
        HeldKeys keys = HeldKeys.of(database.dataSource());
        assertThat(keys.find(null, null, 10)).hasSize(2);
        HeldKeys.HeldKey held = keys.find("s", null, 10).get(0);
        assertThat(held.rowId()).isEqualTo(holder);
        assertThat(held.state()).isEqualTo(Undelivered.State.DEAD);
        assertThat(held.retryAt()).isEmpty();
        assertThat(held.errorCode()).contains("BAD");
        assertThat(held.behind()).isEqualTo(2);
        assertThat(held.more()).isFalse();
        assertThat(keys.find("other", "k", 10).get(0).retryAt()).isPresent();
        assertThat(keys.find("s", "none", 10)).isEmpty();
        assertThat(keys.find(null, null, 1)).hasSize(1);
    }

    @Test
    void undeliveredEventsAreFoundByStreamKeyAndIdPageByPage() {
        long first = database.event("s", "k", "status = 'DEAD'");
        long second = database.event("s", "k", FAILED);
        long third = database.event("s", "k");
        long fourth = database.event("s", "l");
        database.event("other", "k");
        database.event("leased", "k", LEASED);
        Undelivered undelivered = Undelivered.of(database.dataSource());
        assertThat(undelivered.find(null, null, 0, 100)).hasSize(6);
        assertThat(undelivered.find("s", null, 0, 100))
                .extracting(each -> each.id() + " " + each.state())
                .containsExactly(first + " DEAD", second + " RETRYING", third + " PENDING", fourth + " PENDING");
        assertThat(undelivered.find("s", "k", 0, 2))
                .extracting(Undelivered.Event::id)
                .containsExactly(first, second);
        assertThat(undelivered.find("s", "k", second, 2))
                .extracting(Undelivered.Event::id)
                .containsExactly(third);
        assertThat(undelivered.find(null, "k", 0, 100)).hasSize(5);
        UUID id = undelivered.find("leased", null, 0, 1).get(0).eventId();
        assertThat(undelivered.find(id).orElseThrow().state()).isEqualTo(Undelivered.State.LEASED);
        assertThat(undelivered.find(UUID.randomUUID())).isEmpty();
    }

    @Test
    void relaysAreShownWithTheirShareAndTheirSilence() {
        try (Party owner = Party.owning(database, "owner")) {
            database.execute("INSERT INTO outbox_relay (name, relay_group, wants, ttl_ms, lease_until, closed)"
                    + " VALUES ('lost', 'default', 'SHARDS', 8000, clock_timestamp() - interval '60 s', '{s}')");
            List<Relays.Member> members = Relays.of(database.dataSource()).members();
            assertThat(members).extracting(Relays.Member::name).containsExactly("lost", "owner");
            assertThat(members.get(0).alive()).isFalse();
            assertThat(members.get(0).silentFor()).isBetween(Duration.ofSeconds(68), Duration.ofSeconds(90));
            assertThat(members.get(0).closed()).containsExactly("s");
            assertThat(members.get(1).alive()).isTrue();
            assertThat(members.get(1).id()).isEqualTo(owner.member());
            assertThat(members.get(1).shards()).isEqualTo(256);
            assertThat(members.get(0).version()).as("one before it was said").isEmpty();
            assertThat(members.get(1).version())
                    .hasValueSatisfying(version -> assertThat(version).matches("\\d+\\.\\d+\\.\\d+.*"));
        }
    }

    @Test
    void theTailOfTheHistoryGivesEachEntryOnce() throws Exception {
        database.execute("VACUUM outbox_history");
        History.Tail tail = History.of(database.dataSource()).tail(null);
        History.Tail other = History.of(database.dataSource()).tail("other");
        settled("first", 1);
        assertThat(tail.next()).extracting(History.Entry::type).containsExactly("first");
        assertThat(tail.next()).isEmpty();
        try (OpenTransaction late = database.begin()) {
            late.execute(settling("late", 1));
            settled("many", 2000);
            assertThat(tail.next()).hasSize(2000);
            late.commit();
        }
        assertThat(tail.next().size())
                .as("what was committed late, unless too much came between")
                .isBetween(0, 1);
        settled("last", 1);
        assertThat(tail.next()).extracting(History.Entry::type).containsExactly("last");
        assertThat(other.next()).isEmpty();
        SettleRaceTest.dropPartitions(database);
        assertThat(tail.next()).as("without a partition").isEmpty();
    }

    private static void settled(String type, int count) {
        database.execute(settling(type, count));
    }

    private static String settling(String type, int count) {
        return "INSERT INTO outbox_history (id, event_id, stream, event_type, payload_kept, headers, occurred_at,"
                + " attempt_count, created_at, outcome, settled_at, settled_by) SELECT n, gen_random_uuid(), 's', '"
                + type
                + "', false, '{}', now(), 0, now(), 'PUBLISHED', clock_timestamp(), 'relay' FROM generate_series(1, "
                + count + ") n";
    }

    @Test
    void theCheckupSaysWhatIsWrongAndWhatToDo() {
        database.event("s", "k", "created_at = clock_timestamp() - interval '1 hour'");
        database.event("t", "k", "status = 'DEAD', holds = true");
        assertThat(problems())
                .contains("relays: No relay is running", "streams: Stream s has no relay")
                .contains("dead: Stream t has 1 dead letters");
        database.execute("DELETE FROM outbox_event");
        try (Party owner = Party.owning(database, "owner")) {
            SettleRaceTest.dropPartitions(database);
            assertThat(problems()).contains("history: Partitions are made for 0 days to come");
            database.execute("SELECT outbox_history_prepare(14)");
            assertThat(problems()).noneMatch(each -> !each.startsWith("table") && !each.startsWith("snapshots"));
            database.execute("UPDATE outbox_relay SET closed = '{s}' WHERE id = " + owner.member());
            assertThat(problems()).contains("destination: The destination of s does not answer relay owner");
        }
        assertThat(Checkup.of(TestDatabase.empty().dataSource()).run())
                .last()
                .satisfies(each -> assertThat(each.advice()).contains("postrider migrate"));
    }

    @Test
    void competingStreamsAreShownAsWhatTheyAre() {
        try (Claimant worker = Claimant.joining(database, "worker");
                Party owner = Party.owning(database, "owner")) {
            database.event(Claimant.STREAM, "k", "attempt_count = 1");
            worker.claim();
            database.event(Claimant.STREAM, "k");
            database.event(Claimant.STREAM, "k", FAILED.replace("true", "false"));
            Backlog.Stream work = Backlog.of(database.dataSource()).streams().get(0);
            assertThat(work.competing()).isTrue();
            assertThat(List.of(work.pending(), work.retrying(), work.delayed(), work.leased(), work.heldKeys()))
                    .containsExactly(1L, 1L, 0L, 1L, 0L);
            assertThat(database.column(
                            "SELECT status || ' by ' || coalesce(relay, 'nobody') FROM outbox_status ORDER BY id"))
                    .containsExactly("PROCESSING by worker", "PENDING by nobody", "FAILED by nobody");
            assertThat(problems())
                    .as("the owner of shards does not take it")
                    .contains("streams: Stream work (group default) has no relay");
            worker.place.tick(worker.member(), ShardStore.Wants.CLAIMS, Party.QUIET, Set.of(Claimant.STREAM));
            assertThat(problems()).noneMatch(each -> each.startsWith("streams"));
            assertThat(Relays.of(database.dataSource()).members())
                    .filteredOn(each -> each.id() == worker.member())
                    .singleElement()
                    .satisfies(each -> {
                        assertThat(each.wants()).isEqualTo("CLAIMS");
                        assertThat(each.streams()).containsExactly(Claimant.STREAM);
                        assertThat(each.shards()).isZero();
                    });
            assertThat(owner.survey())
                    .as("and gets no share of shards")
                    .allMatch(each -> each.owner() == owner.member());
        }
    }

    private static List<String> problems() {
        return Checkup.of(database.dataSource()).run().stream()
                .filter(each -> each.level() != Checkup.Level.OK)
                .map(each -> each.check() + ": " + each.what())
                .toList();
    }

    private static Duration oldest() {
        return Backlog.of(database.dataSource()).streams().get(0).oldest().orElseThrow();
    }
}
