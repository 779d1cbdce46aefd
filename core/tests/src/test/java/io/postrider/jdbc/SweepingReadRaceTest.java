// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The same where a read is a sweep first. */
class SweepingReadRaceTest extends ReadRaceTest {
    @BeforeEach
    void sweep() {
        owner.reads(Party.Form.SWEEP);
    }

    @Test
    void theOldestRowsComeFirstWhateverTheirShard() {
        backlog("s", 500);
        EventStore.Found found = read(100);
        assertThat(Party.ids(found.deliveries()))
                .containsExactlyElementsOf(ids("SELECT id FROM outbox_event ORDER BY id LIMIT 100"));
        assertThat(found.part()).isTrue();
        assertThat(found.owned()).hasSize(256);
        assertThat(found.newStreams()).containsExactly("s");
        assertThat(owner.sweepsOn()).isTrue();
    }

    @Test
    void whereNothingIsLeftForItThereAreSteps() {
        EventStore.Found none = read(100);
        assertThat(none.part()).isFalse();
        assertThat(none.owned()).hasSize(256);
    }

    @Test
    void itGivesNothingWhereAKeyIsHeldOrSomethingIsDue() {
        backlog("s", 50);
        assertThat(read(100).part()).isTrue();
        long held = database.event("s", "k1", "status = 'DEAD', holds = true");
        assertThat(read(100).part()).isFalse();
        assertThat(read(100).holding()).hasSize(1);
        database.execute("DELETE FROM outbox_event WHERE id = " + held);
        long waiting = database.event("s", "k1", "status = 'WAITING', due_at = clock_timestamp() + interval '1 hour'");
        EventStore.Found found = read(100);
        assertThat(found.part()).isTrue();
        assertThat(found.dueInMicros().orElseThrow()).isBetween(3_500_000_000L, 3_600_000_000L);
        makeDue(waiting);
        assertThat(read(100).part()).isFalse();
    }

    @Test
    void whatOthersHoldOrWaitForIsNoneOfItsBusiness() {
        backlog("s", 50);
        database.event("s", "k1", "status = 'DEAD', holds = true");
        int shard = (int) database.number("SELECT shard FROM outbox_event WHERE holds");
        Map<Integer, Long> others = new HashMap<>(owner.ownership.all());
        others.remove(shard);
        EventStore.Found found = owner.read(Party.query(others, Set.of(), 100, 100, Long.MAX_VALUE));
        assertThat(found.part()).isTrue();
        assertThat(found.deliveries())
                .isNotEmpty()
                .noneMatch(each -> ShardClaim.of(each).shard() == shard);
    }

    @Test
    void whatIsNotItsOwnIsPassedOverUpToEightTimesWhatItMayTake() {
        database.execute(
                "INSERT INTO outbox_stream (stream, relay_group, paused_at) VALUES ('paused', 'default', now())");
        backlog("paused", 70);
        backlog("s", 20);
        EventStore.Found behindFew = read(10);
        assertThat(behindFew.part()).isTrue();
        assertThat(behindFew.deliveries()).hasSize(10);
        database.execute("DELETE FROM outbox_event WHERE stream = 's'");
        backlog("paused", 10);
        backlog("s", 20);
        EventStore.Found behindMany = read(10);
        assertThat(behindMany.part()).as("found by steps").isFalse();
        assertThat(behindMany.deliveries()).hasSize(10);
    }

    @Test
    void oldDeadLettersAndDelayedEventsAreNotInItsWay() {
        database.event("s", "dead", "status = 'DEAD'");
        database.event("s", "later", "status = 'WAITING', due_at = clock_timestamp() + interval '1 hour'");
        backlog("s", 100);
        EventStore.Found found = read(100);
        assertThat(found.part()).isTrue();
        assertThat(found.deliveries()).hasSize(100);
    }

    @Test
    void itStopsAtSoManyBytesAsWell() {
        owner.sweeps(new ReadForm.Backlog("s", 100));
        backlog("s", 50);
        database.execute("UPDATE outbox_event SET payload = repeat('x', 100)::bytea");
        for (Map.Entry<Long, Integer> rows :
                Map.of(130L, 1, 260L, 2, 1_260L, 10, 1_000_000L, 50).entrySet()) {
            EventStore.Found found = owner.read(Party.query(owner.ownership.all(), Set.of(), 100, 100, rows.getKey()));
            assertThat(found.part()).isTrue();
            assertThat(found.deliveries()).hasSize(rows.getValue());
        }
    }

    @Test
    void itEndsBeforeWhatIsLargerThanItsShare() {
        backlog("s", 40);
        hot(1);
        database.execute("UPDATE outbox_event SET payload = repeat('x', 11)::bytea WHERE event_key = 'hot'");
        hot(1);
        backlog("s", 9);
        EventStore.Query query = Party.query(owner.ownership.all(), Set.of(), 100, 100, 1_000);
        EventStore.Found before = owner.read(query);
        assertThat(before.part()).isTrue();
        assertThat(Party.ids(before.deliveries()))
                .as("nothing overtakes it, whatever its key")
                .containsExactlyElementsOf(ids("SELECT id FROM outbox_event ORDER BY id LIMIT 40"));
        database.execute("DELETE FROM outbox_event WHERE id IN (SELECT id FROM outbox_event ORDER BY id LIMIT 40)");
        EventStore.Found steps = owner.read(query);
        assertThat(steps.part()).isFalse();
        assertThat(steps.deliveries()).hasSize(11);
        database.execute("UPDATE outbox_event SET payload = repeat('x', 10)::bytea WHERE payload IS NOT NULL");
        EventStore.Found whole = owner.read(query);
        assertThat(whole.part()).isTrue();
        assertThat(whole.deliveries()).hasSize(11);
        assertThat(whole.deliveries().get(0).event().payloadSize()).isEqualTo(10);
    }

    @Test
    void aStreamThatIsNotToBeReadIsNotSwept() {
        backlog("s", 20);
        database.execute("INSERT INTO outbox_stream (stream, relay_group, paused_at) VALUES ('s', 'default', now())");
        assertThat(read(20).deliveries()).isEmpty();
        database.execute("UPDATE outbox_stream SET paused_at = NULL, relay_group = 'other'");
        assertThat(read(20).deliveries()).isEmpty();
        database.execute("UPDATE outbox_stream SET relay_group = 'default', mode = 'COMPETING'");
        assertThat(read(20).deliveries()).isEmpty();
        database.execute("UPDATE outbox_stream SET mode = 'ORDERED'");
        assertThat(read(20).part()).isTrue();
        EventStore.Query without =
                new EventStore.Query(owner.ownership.all(), Set.of(), 20, 20, Long.MAX_VALUE, Set.of("s"), null, true);
        assertThat(owner.read(without).deliveries()).isEmpty();
    }

    @Test
    void otherStreamsGetTheirTurnEverySecond() {
        owner.reads(Party.Form.UNTIMED);
        backlog("s", 300);
        backlog("other", 1);
        owner.sawBacklog(Duration.ofMillis(100));
        assertThat(read(100).deliveries())
                .allMatch(each -> each.event().stream().equals("s"));
        owner.elapse(Duration.ofSeconds(1).minusNanos(1));
        assertThat(read(100).deliveries())
                .allMatch(each -> each.event().stream().equals("s"));
        owner.elapse(Duration.ofNanos(1));
        EventStore.Found others = read(100);
        assertThat(others.deliveries())
                .hasSize(1)
                .allMatch(each -> each.event().stream().equals("other"));
        assertThat(others.part()).isTrue();
        assertThat(owner.sweepsOn()).isFalse();
    }

    @Test
    void whatTheStreamKeepsIsToldOfEachEvent() {
        backlog("s", 20);
        assertThat(read(20).deliveries()).allMatch(each -> ShardClaim.of(each).keepsHistory());
        database.execute("INSERT INTO outbox_stream (stream, relay_group, history) VALUES ('s', 'default', 'OFF')");
        EventStore.Found off = read(20);
        assertThat(off.part()).isTrue();
        assertThat(off.newStreams()).isEmpty();
        assertThat(off.deliveries())
                .hasSize(20)
                .noneMatch(each -> ShardClaim.of(each).keepsHistory());
    }

    @Test
    void ifOneIsFarLargerThanTheOthersStepsFollow() {
        owner.reads(Party.Form.UNTIMED);
        backlog("s", 200);
        EventStore.Query query = Party.query(owner.ownership.all(), Set.of(), 100, 100, 10_000);
        assertThat(owner.read(query).part()).isFalse();
        assertThat(owner.sweepsOn()).isTrue();
        owner.elapse(Duration.ofSeconds(4));
        database.execute("UPDATE outbox_event SET payload = repeat('x', 1000)::bytea"
                + " WHERE id = (SELECT id FROM outbox_event ORDER BY shard, id LIMIT 1)");
        assertThat(owner.read(query).part()).isFalse();
        assertThat(owner.sweepsOn()).isFalse();
    }

    @Test
    void otherStreamsAreNotSwept() {
        backlog("other", 20);
        backlog("s", 20);
        EventStore.Found found = read(20);
        assertThat(found.part()).isTrue();
        assertThat(found.deliveries())
                .hasSize(20)
                .allMatch(each -> each.event().stream().equals("s"));
        assertThat(owner.sweepsOn()).isTrue();
    }

    @Test
    void ifItBringsLittleStepsFollow() {
        backlog("s", 49);
        read(100);
        assertThat(owner.sweepsOn()).isFalse();
    }

    @Test
    void ifOneKeyHasNearlyAllThereAreStepsInstead() {
        backlog("s", 40);
        hot(60);
        assertThat(read(100).part()).isFalse();
        assertThat(owner.sweepsOn()).isFalse();
    }

    @Test
    void ifOneKeyHasAllThereAreStepsInstead() {
        hot(100);
        EventStore.Found found = read(100);
        assertThat(found.part()).isFalse();
        assertThat(found.deliveries()).hasSize(100);
    }

    @Test
    void onlyABacklogOfOneStreamLeadsToASweep() {
        owner.reads(Party.Form.UNTIMED);
        backlog("s", 200);
        assertThat(read(100).part()).as("the first is read by steps").isFalse();
        assertThat(read(100).part()).isTrue();
        database.execute("UPDATE outbox_event SET stream = 't' WHERE id % 2 = 0");
        assertThat(read(100).part()).as("others have to wait").isTrue();
        owner.elapse(Duration.ofSeconds(4));
        assertThat(read(100).part()).as("until it is their turn").isFalse();
        assertThat(read(100).part()).as("and from then on with each read").isFalse();
    }

    private EventStore.Found read(int rows) {
        return owner.read(Party.query(owner.ownership.all(), Set.of(), rows, rows, Long.MAX_VALUE));
    }

    private static void backlog(String stream, int events) {
        database.execute("INSERT INTO outbox_event (stream, event_key, event_type) SELECT '" + stream
                + "', 'k' || n, 'T' FROM generate_series(1, " + events + ") n");
    }

    private static void hot(int events) {
        database.execute("INSERT INTO outbox_event (stream, event_key, event_type) SELECT 's', 'hot', 'T'"
                + " FROM generate_series(1, " + events + ")");
    }

    @Override
    boolean sweeps() {
        return true;
    }

    private static List<Long> ids(String sql) {
        return database.column(sql).stream().map(Long::valueOf).toList();
    }
}
