// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.Outcome;
import io.postrider.relay.Verdict;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Only the owner of a shard says what becomes of its failed events, and each failure counts once. */
class VerdictRaceTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final Duration HOUR = Duration.ofHours(1);
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
    void afterATakeoverNothingIsWritten() {
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        database.execute("DELETE FROM outbox_relay");
        try (Party successor = Party.owning(database, "successor")) {
            EventStore.Judged judged = owner.events.verdict(retries(taken));
            assertThat(judged.written()).isEmpty();
            assertThat(judged.owned()).isEmpty();
            assertUntouched(id);
            assertThat(successor.dead(successor.read())).containsExactly(id);
        }
    }

    /** @param before verdicts in the same session, after which the statement has a plan for all parameters */
    @ParameterizedTest
    @ValueSource(ints = {0, 12})
    void aTakeoverInProgressIsWaitedForAndThenObeyed(int before) throws Exception {
        writeVerdicts(before);
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        database.execute("DELETE FROM outbox_relay");
        try (Party successor = Party.joining(database, "successor");
                OpenTransaction takeover = database.begin()) {
            Map<Integer, Long> shards = successor.in(takeover).takeAll();
            assertThat(shards).hasSize(256);
            Background<EventStore.Judged> judging = Background.start(() -> owner.events.verdict(retries(taken)));
            takeover.awaitSomebodyBlocked();
            assertThat(judging.isDone()).isFalse();
            takeover.commit();
            assertThat(judging.get().written()).isEmpty();
            assertThat(judging.get().owned()).isEmpty();
        }
        assertUntouched(id);
    }

    @Test
    void aTakeoverThatIsRolledBackChangesNothingForTheOwner() throws Exception {
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        try (OpenTransaction takeover = database.begin()) {
            takeover.execute("UPDATE outbox_shard SET owner = 0, epoch = epoch + 1");
            Background<Set<Long>> judging = Background.start(() -> owner.retry(taken, HOUR));
            takeover.awaitSomebodyBlocked();
            takeover.rollback();
            assertThat(judging.get()).containsExactly(id);
        }
    }

    @Test
    void aTakeoverWaitsForAVerdictThatCameFirst() throws Exception {
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        try (OpenTransaction verdict = database.begin();
                Party successor = Party.joining(database, "successor")) {
            assertThat(owner.in(verdict).retry(taken, HOUR)).containsExactly(id);
            database.execute("DELETE FROM outbox_relay WHERE id = " + owner.member());
            Background<Map<Integer, Long>> taking = Background.start(successor::takeAll);
            verdict.awaitSomebodyBlocked();
            assertThat(taking.isDone()).isFalse();
            verdict.commit();
            assertThat(taking.get()).hasSize(256);
            successor.ownership.add(taking.get());
            assertThat(successor.read()).isEmpty();
        }
        assertThat(database.row(id, "status, attempt_count")).isEqualTo("WAITING,1");
    }

    @Test
    void declaredDeadTheLastOwnerIsHeardUntilSomebodyTakesTheShard() {
        long first = database.event("s", "k");
        long second = database.event("s", "l");
        List<Delivery> taken = owner.read();
        database.execute("DELETE FROM outbox_relay");
        assertThat(owner.retry(taken.subList(0, 1), HOUR)).containsExactly(first);
        try (Party successor = Party.owning(database, "successor")) {
            assertThat(owner.retry(taken.subList(1, 2), HOUR)).isEmpty();
            assertThat(successor.readIds()).containsExactly(second);
        }
    }

    @Test
    void onlyTheVerdictsOfOwnedShardsAreWritten() {
        long lost = database.event("s", "k");
        long kept = database.event("s", "l");
        List<Delivery> taken = owner.read();
        database.execute("UPDATE outbox_shard SET epoch = epoch + 1 WHERE shard = " + database.row(lost, "shard"));
        EventStore.Judged judged = owner.events.verdict(retries(taken));
        assertThat(judged.written()).containsExactly(kept);
        assertThat(judged.owned()).containsExactly(Integer.parseInt(database.row(kept, "shard")));
        assertUntouched(lost);
    }

    @Test
    void whoReleasedAShardHasNoSayInItAnyMore() {
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        owner.shards.release(owner.member(), owner.ownership.all());
        assertThat(owner.retry(taken, HOUR)).isEmpty();
        assertUntouched(id);
    }

    @Test
    void whatWasTakenInAnEarlierEpochIsNotJudgedInALaterOneOfTheSameOwner() {
        long earlier = database.event("s", "k");
        List<Delivery> mixed = new ArrayList<>(owner.read());
        owner.shards.release(owner.member(), owner.ownership.all());
        owner.ownership.joined(owner.member());
        owner.ownership.add(owner.takeAll());
        long later = database.event("s", "k");
        mixed.addAll(owner.read(Set.of(earlier)).deliveries());
        assertThat(owner.retry(mixed, HOUR)).containsExactly(later);
        assertUntouched(earlier);
    }

    @Test
    void anotherGroupsShardsAreNoFence() {
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        database.execute("UPDATE outbox_shard SET relay_group = 'other'");
        assertThat(owner.retry(taken, HOUR)).isEmpty();
        assertUntouched(id);
    }

    @Test
    void aVerdictWhoseAnswerWasLostCountsOneAttempt() {
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        assertThat(owner.retry(taken, HOUR)).containsExactly(id);
        assertThat(owner.retry(taken, HOUR)).isEmpty();
        assertThat(database.row(id, "status, attempt_count, revision")).isEqualTo("WAITING,1,1");
        assertThat(attempts()).hasSize(1);
    }

    @Test
    void aVerdictRepeatedWhileTheFirstIsStillUnderWayCountsOneAttempt() throws Exception {
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        try (OpenTransaction first = database.begin()) {
            owner.in(first).retry(taken, HOUR);
            Background<Set<Long>> repeated = Background.start(() -> owner.dead(taken));
            first.awaitSomebodyBlocked();
            first.commit();
            assertThat(repeated.get()).isEmpty();
        }
        assertThat(database.row(id, "status, attempt_count, revision")).isEqualTo("WAITING,1,1");
        assertThat(attempts()).hasSize(1);
    }

    @Test
    void afterSomebodyElsesSettleThereIsNothingToJudge() throws Exception {
        database.event("s", "k");
        List<Delivery> taken = owner.read();
        try (OpenTransaction settle = database.begin()) {
            owner.in(settle).events.settle(taken);
            Background<Set<Long>> judging = Background.start(() -> owner.dead(taken));
            settle.awaitSomebodyBlocked();
            settle.commit();
            assertThat(judging.get()).isEmpty();
        }
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
        assertThat(attempts()).isEmpty();
    }

    @Test
    void aRowThatChangesMeanwhileIsNotJudged() throws Exception {
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        try (OpenTransaction edit = database.begin()) {
            edit.execute("UPDATE outbox_event SET revision = revision + 1");
            Background<Set<Long>> judging = Background.start(() -> owner.dead(taken));
            edit.awaitSomebodyBlocked();
            edit.commit();
            assertThat(judging.get()).isEmpty();
        }
        assertThat(database.row(id, "status, attempt_count")).isEqualTo("PENDING,0");
    }

    @Test
    void aRowWithAnotherIdentityIsNotJudged() {
        long id = database.event("s", "k");
        Delivery taken = owner.read().get(0);
        OutboxEvent other =
                OutboxEvent.of("s", "T").id(UUID.randomUUID()).key("k").build();
        assertThat(owner.dead(List.of(new Delivery(id, 0, 0, other, taken.claim()))))
                .isEmpty();
        assertUntouched(id);
    }

    @Test
    void rowsAreLockedInTheOrderOfTheirIds() throws Exception {
        for (int i = 0; i < 5; i++) {
            database.event("s", "k" + i);
        }
        List<Delivery> taken = new ArrayList<>(owner.read());
        List<Long> ids = Party.ids(taken);
        Collections.reverse(taken);
        try (OpenTransaction middle = database.begin()) {
            middle.execute("UPDATE outbox_event SET updated_at = updated_at WHERE id = " + ids.get(2));
            Background<Set<Long>> judging = Background.start(() -> owner.retry(taken, HOUR));
            middle.awaitSomebodyBlocked();
            assertThat(isLocked(ids.get(0))).isTrue();
            assertThat(isLocked(ids.get(4))).isFalse();
            middle.commit();
            assertThat(judging.get()).hasSize(5);
        }
    }

    @Test
    void aRetryIsDueLaterAndHoldsItsKey() {
        long keyed = database.event("s", "k");
        long unkeyed = database.event("s", null);
        assertThat(owner.retry(owner.read(), HOUR)).containsExactlyInAnyOrder(keyed, unkeyed);
        String columns = "status, holds, revision, attempt_count, last_error_code, last_error_message,"
                + " round(extract(epoch FROM due_at - last_attempt_at) / 60)";
        assertThat(database.row(keyed, columns)).isEqualTo("WAITING,t,1,1,BUSY,busy,60");
        assertThat(database.row(unkeyed, columns)).isEqualTo("WAITING,f,1,1,BUSY,busy,60");
    }

    @Test
    void aDeadEventHoldsItsKeyUnlessItsStreamSkips() {
        policy("skips", "SKIP");
        policy("holds", "HOLD_KEY");
        long holding = database.event("holds", "k");
        long skipped = database.event("skips", "k");
        long unregistered = database.event("new", "k");
        long unkeyed = database.event("holds", null);
        assertThat(owner.dead(owner.read())).hasSize(4);
        assertThat(database.row(holding, "status, holds")).isEqualTo("DEAD,t");
        assertThat(database.row(skipped, "status, holds")).isEqualTo("DEAD,f");
        assertThat(database.row(unregistered, "status, holds")).isEqualTo("DEAD,t");
        assertThat(database.row(unkeyed, "status, holds")).isEqualTo("DEAD,f");
    }

    @Test
    void aRetryHoldsItsKeyAlsoWhereDeadEventsAreSkipped() {
        policy("skips", "SKIP");
        long id = database.event("skips", "k");
        owner.retry(owner.read(), HOUR);
        assertThat(database.row(id, "status, holds")).isEqualTo("WAITING,t");
    }

    @Test
    void aStreamThatStopsIsPausedInTheSameTransactionAsItsEventDies() throws Exception {
        policy("s", "STOP_STREAM");
        database.event("s", "k");
        long later = database.event("s", "l");
        List<Delivery> taken = owner.read().subList(0, 1);
        owner.retry(taken, Duration.ZERO);
        assertThat(paused()).as("a retry stops nothing").isEmpty();
        List<Delivery> again = owner.read().subList(0, 1);
        try (OpenTransaction verdict = database.begin()) {
            owner.in(verdict).dead(again);
            assertThat(owner.readIds()).contains(later);
            verdict.commit();
        }
        assertThat(paused()).containsExactly("s by postrider");
        assertThat(owner.readIds()).isEmpty();
    }

    @Test
    void everyFailedAttemptIsRecorded() {
        database.event("s", "k");
        owner.retry(owner.read(), Duration.ZERO);
        owner.dead(owner.read());
        assertThat(attempts()).containsExactly("owner BUSY busy", "owner BAD bad");
    }

    @Test
    void releasingIsNoAttemptAndChangesNothing() {
        long id = database.event("s", "k");
        owner.ownership.renewed(System.nanoTime() + HOUR.toNanos());
        OrderedIntake intake = new OrderedIntake(
                owner.events, owner.ownership, new OrderedIntake.Part(0, 1, false, null), System::nanoTime);
        Demand demand = Demand.of(10, 1000, Set.of());
        List<Delivery> taken = intake.take(demand).deliveries();
        assertThat(Party.ids(taken)).containsExactly(id);
        assertThat(intake.take(demand).deliveries()).isEmpty();
        intake.release(taken);
        assertThat(intake.size()).isZero();
        assertUntouched(id);
        assertThat(Party.ids(intake.take(demand).deliveries())).containsExactly(id);
    }

    private void writeVerdicts(int count) {
        for (int i = 0; i < count; i++) {
            database.event("before", "k" + i);
        }
        owner.read().forEach(taken -> owner.retry(List.of(taken), HOUR));
    }

    private static List<Verdict> retries(List<Delivery> taken) {
        return taken.stream()
                .map(delivery -> new Verdict(delivery, new Outcome.Retry(HOUR, "BUSY", "busy")))
                .toList();
    }

    private static boolean isLocked(long id) throws SQLException {
        try (Connection connection = database.connect();
                PreparedStatement statement =
                        connection.prepareStatement("SELECT 1 FROM outbox_event WHERE id = ? FOR UPDATE SKIP LOCKED")) {
            statement.setLong(1, id);
            return !statement.executeQuery().next();
        }
    }

    private static void policy(String stream, String onDead) {
        database.execute("INSERT INTO outbox_stream (stream, relay_group, on_dead) VALUES ('" + stream
                + "', 'default', '" + onDead + "')");
    }

    private static List<String> paused() {
        return database.column("SELECT stream || ' by ' || paused_by FROM outbox_stream WHERE paused_at IS NOT NULL");
    }

    private static List<String> attempts() {
        return database.column(
                "SELECT concat_ws(' ', relay, error_code, error_message) FROM outbox_attempt ORDER BY id");
    }

    private static void assertUntouched(long id) {
        assertThat(database.row(id, "status, holds, revision, attempt_count")).isEqualTo("PENDING,f,0,0");
        assertThat(database.number("SELECT count(*) FROM outbox_attempt WHERE event_row = " + id))
                .isZero();
    }
}
