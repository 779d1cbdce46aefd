// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.FeedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What was acknowledged is a fact: it is removed whoever says so, but only as it was sent, and only once. */
class SettleRaceTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private Party owner;

    @BeforeEach
    void join() {
        database.clear();
        owner = Party.owning(database, "owner");
    }

    @AfterEach
    void close() {
        owner.close();
    }

    @Test
    void aRelayThatLostItsShardStillSettles() {
        database.event("s", "k");
        List<Delivery> taken = owner.read();
        database.execute("DELETE FROM outbox_relay");
        try (Party successor = Party.owning(database, "successor")) {
            assertThat(successor.read()).hasSize(1);
            owner.events.settle(taken);
            assertThat(successor.read()).isEmpty();
        }
        assertThat(history()).containsExactly("PUBLISHED by owner");
    }

    @ParameterizedTest
    @ValueSource(strings = {"KEEP", "OFF"})
    void aRowThatChangesMeanwhileStays(String history) throws Exception {
        stream(history);
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        try (OpenTransaction edit = database.begin()) {
            edit.execute("UPDATE outbox_event SET revision = revision + 1");
            Background<Void> settling = settling(taken);
            edit.awaitSomebodyBlocked();
            edit.commit();
            settling.get();
        }
        assertThat(database.row(id, "status, revision")).isEqualTo("PENDING,1");
        owner.events.settle(taken);
        assertThat(database.row(id, "status, revision")).isEqualTo("PENDING,1");
        assertThat(history()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"KEEP", "OFF"})
    void aRowThatIsOnlyTouchedMeanwhileGoes(String history) throws Exception {
        stream(history);
        database.event("s", "k");
        List<Delivery> taken = owner.read();
        try (OpenTransaction touch = database.begin()) {
            touch.execute("UPDATE outbox_event SET updated_at = clock_timestamp()");
            Background<Void> settling = settling(taken);
            touch.awaitSomebodyBlocked();
            touch.commit();
            settling.get();
        }
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
        assertThat(history()).hasSize(history.equals("KEEP") ? 1 : 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"KEEP", "OFF"})
    void aRowWithAnotherIdentityStays(String history) {
        stream(history);
        long id = database.event("s", "k");
        Delivery taken = owner.read().get(0);
        OutboxEvent other =
                OutboxEvent.of("s", "T").id(UUID.randomUUID()).key("k").build();
        owner.events.settle(List.of(new Delivery(id, taken.revision(), 0, other, taken.claim())));
        assertThat(database.row(id, "status")).isEqualTo("PENDING");
        assertThat(history()).isEmpty();
    }

    @Test
    void twoWhoSettleAtTheSameTimeLeaveOneLineInTheHistory() throws Exception {
        assertThat(settledByBoth(true)).containsExactly("PUBLISHED by first");
    }

    @Test
    void theSecondSettlesWhatTheFirstRolledBack() throws Exception {
        assertThat(settledByBoth(false)).containsExactly("PUBLISHED by owner");
    }

    private List<String> settledByBoth(boolean firstCommits) throws Exception {
        database.event("s", "k");
        List<Delivery> taken = owner.read();
        try (Party first = Party.joining(database, "first");
                OpenTransaction transaction = database.begin()) {
            first.in(transaction).events.settle(taken);
            Background<Void> second = settling(taken);
            transaction.awaitSomebodyBlocked();
            assertThat(second.isDone()).isFalse();
            if (firstCommits) {
                transaction.commit();
            } else {
                transaction.rollback();
            }
            second.get();
        }
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
        return history();
    }

    @Test
    void aDeadlockLosesNothingAndCountsNothingTwice() throws Exception {
        long first = database.event("s", "k");
        long second = database.event("s", "k");
        List<Delivery> taken = owner.read();
        try (OpenTransaction crossing = database.begin()) {
            crossing.execute("UPDATE outbox_event SET updated_at = updated_at WHERE id = " + second);
            Background<Void> settling = settling(taken);
            crossing.awaitSomebodyBlocked();
            // One of the two is the victim; which one is the database's choice.
            boolean crossed = Background.start(() ->
                            crossing.execute("UPDATE outbox_event SET updated_at = updated_at WHERE id = " + first))
                    .succeeds();
            crossing.rollback();
            assertThat(settling.failure().isPresent())
                    .as("either the settling or the crossing session fails")
                    .isEqualTo(crossed);
            settling.failure().ifPresent(e -> assertThat(e).isInstanceOf(FeedException.class));
        }
        owner.events.settle(taken);
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
        assertThat(history()).hasSize(2);
    }

    @Test
    void manyWhoSettleOverlappingSetsSettleEachEventOnce() throws Exception {
        for (int round = 0; round < 5; round++) {
            database.execute("DELETE FROM outbox_history");
            database.execute("INSERT INTO outbox_event (stream, event_key, event_type)"
                    + " SELECT 's', 'k' || n % 10, 'T' FROM generate_series(1, 400) n");
            // So that rows do not lie in the order of their ids.
            database.execute("UPDATE outbox_event SET updated_at = clock_timestamp() WHERE id % 3 = 0");
            List<Delivery> all = owner.read();
            assertThat(all).hasSize(400);
            List<Background<Integer>> sessions = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                List<Delivery> part = new ArrayList<>(all.subList(i * 50, i * 50 + 250));
                Collections.shuffle(part);
                sessions.add(Background.start(() -> {
                    try (Party zombie = Party.joining(database, "zombie")) {
                        return settleUntilItIsDone(zombie, part);
                    }
                }));
            }
            for (Background<Integer> session : sessions) {
                session.get();
            }
            assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
            assertThat(database.number("SELECT count(DISTINCT id) FROM outbox_history"))
                    .isEqualTo(400);
            assertThat(database.number("SELECT count(*) FROM outbox_history")).isEqualTo(400);
        }
    }

    /** As a loop does: whatever the database answers, the same call is made again. Returns how often. */
    private static int settleUntilItIsDone(Party zombie, List<Delivery> part) {
        for (int calls = 1; ; calls++) {
            try {
                zombie.events.settle(part);
                return calls;
            } catch (FeedException e) {
                assertThat(calls).isLessThan(20);
            }
        }
    }

    @Test
    void aStreamsHistoryIsKeptWholeWithoutPayloadOrNotAtAll() {
        settleOneWithHistory("KEEP");
        assertThat(database.column("SELECT payload_kept || ' ' || encode(payload, 'escape') FROM outbox_history"))
                .containsExactly("true x");
        settleOneWithHistory("NO_PAYLOAD");
        assertThat(database.column("SELECT payload_kept || ' ' || coalesce(encode(payload, 'escape'), 'none')"
                        + " FROM outbox_history"))
                .containsExactly("false none");
        settleOneWithHistory("OFF");
        assertThat(history()).isEmpty();
    }

    private void settleOneWithHistory(String history) {
        database.execute("DELETE FROM outbox_stream; DELETE FROM outbox_history");
        stream(history);
        database.event("s", "k");
        owner.events.settle(owner.read());
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
    }

    @Test
    void whatCouldNotBeSettledIsStillInFlight() {
        AtomicBoolean failing = new AtomicBoolean();
        Session session = new Session(FailingSource.of(database.dataSource(), failing::get), Duration.ofSeconds(30));
        owner.ownership.renewed(System.nanoTime() + Duration.ofHours(1).toNanos());
        OrderedIntake intake = new OrderedIntake(
                new EventStatements(session, Party.SQL, Party.settings("default"), "owner", owner.ownership),
                owner.ownership,
                new OrderedIntake.Part(0, 1, false, null),
                System::nanoTime);
        Demand demand = Demand.of(10, 1000, Set.of());
        database.event("s", "k");
        List<Delivery> taken = intake.take(demand).deliveries();
        failing.set(true);
        assertThatThrownBy(() -> intake.settle(taken)).isInstanceOf(FeedException.class);
        failing.set(false);
        assertThat(intake.take(demand).deliveries())
                .as("it must not be sent again")
                .isEmpty();
        assertThat(intake.size()).isEqualTo(1);
        intake.settle(taken);
        assertThat(intake.size()).isZero();
        assertThat(history()).hasSize(1);
        intake.close();
    }

    @Test
    void withoutAPartitionForTodayTheOverflowTableTakesIt() {
        dropPartitions();
        long id = database.event("s", "k");
        owner.events.settle(owner.read());
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
        assertThat(database.column("SELECT id || ' ' || outcome FROM outbox_history_overflow"))
                .containsExactly(id + " PUBLISHED");
    }

    static void dropPartitions(TestDatabase database) {
        database.column("SELECT relname FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid"
                        + " WHERE inhparent = 'outbox_history'::regclass")
                .forEach(partition -> database.execute("DROP TABLE " + partition));
    }

    private static void dropPartitions() {
        dropPartitions(database);
    }

    private Background<Void> settling(List<Delivery> taken) {
        return Background.start(() -> {
            owner.events.settle(taken);
            return null;
        });
    }

    private static void stream(String history) {
        database.execute(
                "INSERT INTO outbox_stream (stream, relay_group, history) VALUES ('s', 'default', '" + history + "')");
    }

    private static List<String> history() {
        return database.column("SELECT outcome || ' by ' || settled_by FROM outbox_history ORDER BY id");
    }
}
