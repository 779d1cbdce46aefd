// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.ops.Actor;
import io.postrider.ops.DeadLetter;
import io.postrider.ops.DeadLetterQuery;
import io.postrider.ops.DeadLetters;
import io.postrider.relay.Delivery;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Of several people who act on one dead letter, one acts; and the audit table tells of that one. */
class OperatorRaceTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final Actor KIM = new Actor("kim", "fixed");
    private static final Actor SAM = new Actor("sam", "fixed too");
    private final DeadLetters deadLetters = DeadLetters.of(database.dataSource());
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

    private enum Action {
        REQUEUE,
        DISCARD,
        UNHOLD;

        int run(DeadLetters deadLetters, List<DeadLetter> letters, Actor actor) {
            return switch (this) {
                case REQUEUE -> deadLetters.requeue(letters, actor);
                case DISCARD -> deadLetters.discard(letters, actor);
                case UNHOLD -> deadLetters.unhold(letters, actor);
            };
        }
    }

    @ParameterizedTest
    @CsvSource({
        "REQUEUE, REQUEUE",
        "REQUEUE, DISCARD",
        "DISCARD, REQUEUE",
        "DISCARD, DISCARD",
        "UNHOLD, DISCARD",
        "UNHOLD, UNHOLD",
        "REQUEUE, UNHOLD"
    })
    void ofTwoWhoActAtOnceOnlyTheFirstDoes(Action first, Action second) throws Exception {
        database.event("s", "k", "status = 'DEAD', holds = true");
        List<DeadLetter> found = deadLetters.find(DeadLetterQuery.all());
        try (OpenTransaction kim = database.begin()) {
            assertThat(first.run(DeadLetters.of(kim.dataSource()), found, KIM)).isEqualTo(1);
            Background<Integer> sam = Background.start(() -> second.run(deadLetters, found, SAM));
            kim.awaitSomebodyBlocked();
            assertThat(sam.isDone()).isFalse();
            kim.commit();
            assertThat(sam.get()).isZero();
        }
        assertThat(audit()).containsExactly("kim " + first.name().toLowerCase(Locale.ROOT) + " s fixed");
        assertThat(database.number("SELECT count(*) FROM outbox_history")).isEqualTo(first == Action.DISCARD ? 1 : 0);
    }

    @ParameterizedTest
    @CsvSource({"REQUEUE, DISCARD", "DISCARD, REQUEUE"})
    void whatTheFirstTakesBackTheSecondDoes(Action first, Action second) throws Exception {
        database.event("s", "k", "status = 'DEAD', holds = true");
        List<DeadLetter> found = deadLetters.find(DeadLetterQuery.all());
        try (OpenTransaction kim = database.begin()) {
            first.run(DeadLetters.of(kim.dataSource()), found, KIM);
            Background<Integer> sam = Background.start(() -> second.run(deadLetters, found, SAM));
            kim.awaitSomebodyBlocked();
            kim.rollback();
            assertThat(sam.get()).isEqualTo(1);
        }
        assertThat(audit()).containsExactly("sam " + second.name().toLowerCase(Locale.ROOT) + " s fixed too");
    }

    @ParameterizedTest
    @CsvSource({"REQUEUE", "DISCARD", "UNHOLD"})
    void nobodyActsOnALetterThatChangedSinceItWasFound(Action action) {
        long id = database.event("s", "k", "status = 'DEAD', holds = true");
        List<DeadLetter> found = deadLetters.find(DeadLetterQuery.all());
        database.execute("UPDATE outbox_event SET revision = revision + 1");
        assertThat(action.run(deadLetters, found, KIM)).isZero();
        database.execute("UPDATE outbox_event SET revision = revision - 1, event_id = gen_random_uuid()");
        assertThat(action.run(deadLetters, found, KIM)).isZero();
        database.execute("UPDATE outbox_event SET status = 'WAITING', event_id = '"
                + found.get(0).eventId() + "'");
        assertThat(action.run(deadLetters, found, KIM)).isZero();
        assertThat(database.row(id, "status, holds, revision")).isEqualTo("WAITING,t,0");
        assertThat(audit()).isEmpty();
    }

    @Test
    void aRequeuedEventGoesBeforeLaterEventsOfItsKey() {
        long first = database.event("s", "k");
        List<Delivery> taken = owner.read();
        long second = database.event("s", "k");
        owner.dead(taken);
        assertThat(owner.readIds()).isEmpty();
        assertThat(deadLetters.requeue(deadLetters.find(DeadLetterQuery.all()), KIM))
                .isEqualTo(1);
        assertThat(owner.readIds()).containsExactly(first, second);
        assertThat(database.row(first, "status, holds, attempt_count, revision"))
                .isEqualTo("PENDING,f,0,2");
    }

    @Test
    void theOldDeliveryOfARequeuedEventCanNeitherSettleNorJudgeIt() {
        long id = database.event("s", "k");
        List<Delivery> old = owner.read();
        owner.dead(old);
        deadLetters.requeue(deadLetters.find(DeadLetterQuery.all()), KIM);
        owner.events.settle(old);
        assertThat(owner.retry(old, Duration.ofHours(1))).isEmpty();
        assertThat(owner.readIds()).containsExactly(id);
    }

    @Test
    void aLetterThatWasRequeuedAndDiedAgainIsAnotherLetter() throws Exception {
        long id = database.event("s", "k", "status = 'DEAD', holds = true");
        List<DeadLetter> found = deadLetters.find(DeadLetterQuery.all());
        deadLetters.requeue(found, KIM);
        List<Delivery> taken = owner.read();
        try (OpenTransaction verdict = database.begin()) {
            owner.in(verdict).dead(taken);
            assertThat(deadLetters.requeue(found, SAM)).isZero();
            verdict.commit();
        }
        assertThat(deadLetters.requeue(found, SAM)).isZero();
        assertThat(database.row(id, "status, revision")).isEqualTo("DEAD,2");
        assertThat(audit()).hasSize(1);
    }

    @Test
    void afterUnholdLaterEventsOfTheKeyGoAndTheLetterStaysDead() {
        long dead = database.event("s", "k", "status = 'DEAD', holds = true");
        long later = database.event("s", "k");
        assertThat(owner.readIds()).isEmpty();
        assertThat(deadLetters.unhold(deadLetters.find(DeadLetterQuery.all()), KIM))
                .isEqualTo(1);
        assertThat(owner.readIds()).containsExactly(later);
        assertThat(database.row(dead, "status, holds")).isEqualTo("DEAD,f");
        assertThat(deadLetters.find(DeadLetterQuery.all())).hasSize(1);
    }

    @Test
    void aDiscardedEventIsInTheHistoryAndItsKeyGoesOn() {
        long dead = database.event("s", "k", "status = 'DEAD', holds = true");
        long later = database.event("s", "k");
        assertThat(deadLetters.discard(deadLetters.find(DeadLetterQuery.all()), KIM))
                .isEqualTo(1);
        assertThat(owner.readIds()).containsExactly(later);
        assertThat(database.column("SELECT concat_ws(' ', id, outcome, settled_by) FROM outbox_history"))
                .containsExactly(dead + " DISCARDED kim");
        assertThat(audit()).containsExactly("kim discard s fixed");
    }

    @Test
    void withoutAPartitionForTodayADiscardedEventGoesToTheOverflowTable() {
        SettleRaceTest.dropPartitions(database);
        long dead = database.event("s", "k", "status = 'DEAD', holds = true");
        assertThat(deadLetters.discard(deadLetters.find(DeadLetterQuery.all()), KIM))
                .isEqualTo(1);
        assertThat(database.column("SELECT concat_ws(' ', id, outcome) FROM outbox_history_overflow"))
                .containsExactly(dead + " DISCARDED");
        assertThat(audit()).hasSize(1);
    }

    private static List<String> audit() {
        return database.column("SELECT concat_ws(' ', who, action, stream, reason) FROM outbox_audit ORDER BY id");
    }
}
