// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

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
        backlog("s", 50);
        database.execute("UPDATE outbox_event SET payload = repeat('x', 100)::bytea");
        for (Map.Entry<Long, Integer> rows :
                Map.of(1L, 1, 100L, 1, 101L, 2, 1000L, 10).entrySet()) {
            EventStore.Found found = owner.read(Party.query(owner.ownership.all(), Set.of(), 100, 100, rows.getKey()));
            assertThat(found.part()).isTrue();
            assertThat(found.deliveries()).hasSize(rows.getValue());
        }
    }

    @Test
    void streamsThatAreLeftOutAreNotSwept() {
        backlog("closed", 20);
        backlog("s", 20);
        EventStore.Query query = new EventStore.Query(
                owner.ownership.all(), Set.of(), 20, 20, Long.MAX_VALUE, Set.of("closed"), null, true);
        EventStore.Found found = owner.read(query);
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
    void ifThereIsMoreThanOneStreamStepsFollow() {
        backlog("s", 50);
        backlog("t", 50);
        assertThat(read(100).part()).isTrue();
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
        read(100);
        assertThat(read(100).part()).isFalse();
        assertThat(read(100).part()).isFalse();
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
