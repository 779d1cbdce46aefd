// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.relay.Delivery;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sweeps that go on where the last one ended, beside transactions that are open meanwhile. */
class SweepOnRaceTest {
    private static final Duration A_WHILE = Duration.ofMillis(100);
    /** After one in vain. */
    private static final Duration UNTIL_THE_NEXT_SWEEP = Duration.ofSeconds(2);

    private static final TestDatabase database = TestDatabase.migrated();
    private Party owner;
    private final Set<Long> inFlight = new HashSet<>();

    @BeforeEach
    void join() {
        database.clear();
        owner = Party.owning(database, "owner");
        owner.reads(Party.Form.UNTIMED);
    }

    @AfterEach
    void close() {
        owner.close();
    }

    @Test
    void itGoesOnBehindWhatItBrought() {
        backlog(1, 300);
        becomeSure();
        List<Long> third = sweep();
        inFlight.clear();
        assertThat(sweep()).as("though the first are in flight no more").first().isEqualTo(last(third) + 1);
    }

    @Test
    void itBeginsAnewWhenSomethingIsGivenBack() {
        backlog(1, 300);
        becomeSure();
        List<Long> third = sweep();
        inFlight.remove(third.get(3));
        owner.events.released();
        assertThat(sweep()).first().isEqualTo(third.get(3));
    }

    @Test
    void itBeginsAnewWhenSomethingWasJudged() {
        backlog(1, 300);
        becomeSure();
        List<Long> third = sweep();
        inFlight.remove(third.get(3));
        assertThat(owner.retry(List.of(), Duration.ZERO)).isEmpty();
        assertThat(sweep()).first().isEqualTo(third.get(3));
    }

    @Test
    void itDoesNotPassATransactionThatMayHaveDrawnASmallerId() throws Exception {
        backlog(1, 100);
        try (OpenTransaction late = database.begin()) {
            late.execute("INSERT INTO outbox_event (stream, event_key, event_type) VALUES ('s', 'late', 'T')");
            backlog(101, 300);
            becomeSure();
            sweep();
            sweep();
            late.commit();
            long lateId = database.number("SELECT id FROM outbox_event WHERE event_key = 'late'");
            assertThat(lateId).isLessThan(inFlight.stream().max(Long::compare).orElseThrow());
            database.execute("INSERT INTO outbox_event (stream, event_key, event_type) VALUES ('s', 'late', 'T')");
            assertThat(sweep()).first().isEqualTo(lateId);
        }
    }

    @Test
    void itBeginsAnewOnceAKeyWasHeld() {
        backlog(1, 300);
        becomeSure();
        long held = sweep().get(5);
        inFlight.remove(held);
        database.execute("UPDATE outbox_event SET status = 'DEAD', holds = true WHERE id = " + held);
        assertThat(read().part()).as("nothing is swept").isFalse();
        database.execute("UPDATE outbox_event SET holds = false, status = 'PENDING' WHERE id = " + held);
        owner.elapse(UNTIL_THE_NEXT_SWEEP);
        assertThat(sweep()).first().isEqualTo(held);
    }

    @Test
    void whatItDoesNotHandOutIsThereForTheNext() {
        backlog(1, 200);
        becomeSure();
        long swept = inFlight.stream().max(Long::compare).orElseThrow();
        database.execute("UPDATE outbox_event SET event_key = 'hot' WHERE id > " + swept);
        assertThat(read().deliveries())
                .as("by steps, since too many are of one shard")
                .isNotEmpty();
        database.execute("UPDATE outbox_event SET event_key = 'k' || id WHERE id > " + swept);
        owner.elapse(UNTIL_THE_NEXT_SWEEP);
        assertThat(sweep()).first().isEqualTo(swept + 1);
    }

    @Test
    void otherStreamsHaveTheirTurnAtEveryReadOnceTheyAreKnown() {
        backlog(1, 300);
        becomeSure();
        database.execute(
                "INSERT INTO outbox_event (stream, event_type) SELECT 'other', 'T' FROM generate_series(1, 3)");
        owner.sawBacklog(Duration.ofMillis(100));
        owner.elapse(Duration.ofSeconds(1));
        assertThat(owner.read(query()).deliveries())
                .hasSize(3)
                .allMatch(each -> each.event().stream().equals("other"));
        EventStore.Query all = Party.query(owner.ownership.all(), Set.copyOf(inFlight), 1_000, 1_000, Long.MAX_VALUE);
        assertThat(owner.read(all).deliveries())
                .as("a step, of all streams")
                .anyMatch(each -> each.event().stream().equals("other"))
                .anyMatch(each -> each.event().stream().equals("s"));
    }

    @Test
    void onAnotherServerItDoesNotBeginWhereTheLastOneEnded() {
        backlog(1, 300);
        long first = database.number("SELECT min(id) FROM outbox_event");
        // As if this server had just taken the place of the one that was asked who is writing.
        owner.front().hear(new Front.Writing(1, Set.of(), first + 300), System.nanoTime());
        owner.front().hear(new Front.Writing(1, Set.of(), first + 300), System.nanoTime());
        owner.sawBacklog(Duration.ofMillis(100));
        EventStore.Found swept = owner.read(query());
        assertThat(swept.part()).isTrue();
        inFlight.addAll(ids(swept.deliveries()));
        owner.sawBacklog(Duration.ofMillis(100));
        EventStore.Found next = owner.read(query());
        assertThat(next.part()).as("by steps").isFalse();
        assertThat(ids(next.deliveries())).doesNotContainAnyElementsOf(inFlight);
    }

    @Test
    void stepsBesideItBeginThereToo() {
        backlog(1, 400);
        becomeSure();
        List<Long> third = sweep();
        inFlight.clear();
        owner.elapse(Duration.ofSeconds(4));
        EventStore.Found steps = owner.read(query());
        assertThat(steps.part()).isTrue();
        assertThat(ids(steps.deliveries())).isNotEmpty().allMatch(id -> id > last(third));
    }

    /** Sweeps twice, with a look at who is writing before and between. */
    private void becomeSure() {
        sweep();
        sweep();
    }

    private List<Long> sweep() {
        owner.elapse(A_WHILE);
        EventStore.Found found = read();
        assertThat(found.part()).as("swept").isTrue();
        List<Long> ids = ids(found.deliveries());
        inFlight.addAll(ids);
        return ids;
    }

    private EventStore.Found read() {
        owner.sawBacklog(Duration.ofMillis(100));
        return owner.read(query());
    }

    private EventStore.Query query() {
        return Party.query(owner.ownership.all(), Set.copyOf(inFlight), 50, 50, Long.MAX_VALUE);
    }

    private static long last(List<Long> ids) {
        return ids.get(ids.size() - 1);
    }

    private static List<Long> ids(List<Delivery> deliveries) {
        return Party.ids(deliveries);
    }

    private static void backlog(int first, int last) {
        database.execute("INSERT INTO outbox_event (stream, event_key, event_type) SELECT 's', 'k' || n, 'T'"
                + " FROM generate_series(" + first + ", " + last + ") n");
    }
}
