// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxException;
import io.postrider.ops.Actor;
import io.postrider.ops.DeadLetterQuery;
import io.postrider.ops.DeadLetters;
import io.postrider.ops.UnknownEvent;
import io.postrider.ops.Unknowns;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of an unknown event is said once, by one who has seen it as it is. */
class UnknownRaceTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final Actor KIM = new Actor("kim", "asked the bank");
    private static final Actor SAM = new Actor("sam", "asked too");
    private final Unknowns unknowns = Unknowns.of(database.dataSource());
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
        DONE,
        RETRY,
        DEAD;

        int run(Unknowns unknowns, List<UnknownEvent> events, Actor actor) {
            return switch (this) {
                case DONE -> unknowns.done(events, actor);
                case RETRY -> unknowns.retry(events, actor);
                case DEAD -> unknowns.dead(events, "NO_SUCH_ACCOUNT", "closed", actor);
            };
        }

        boolean run(Unknowns unknowns, UUID event, Actor actor) {
            return switch (this) {
                case DONE -> unknowns.done(event, actor);
                case RETRY -> unknowns.retry(event, actor);
                case DEAD -> unknowns.dead(event, "NO_SUCH_ACCOUNT", "closed", actor);
            };
        }

        String audited(String who, String why) {
            return who + " " + name().toLowerCase(Locale.ROOT) + " s " + why;
        }
    }

    @Test
    void whatIsDoneIsGoneAndInTheHistoryAndItsKeyGoesOn() {
        UUID event = unknown("k");
        long behind = database.event("s", "k");
        assertThat(owner.readIds()).isEmpty();
        assertThat(unknowns.done(event, KIM)).isTrue();
        assertThat(database.column("SELECT outcome || ' by ' || settled_by || ' after ' || attempt_count"
                        + " FROM outbox_history"))
                .containsExactly("PUBLISHED by kim after 2");
        assertThat(owner.readIds()).containsExactly(behind);
        assertThat(audit()).containsExactly("kim done s asked the bank");
        assertThat(unknowns.done(event, KIM)).isFalse();
    }

    @Test
    void aStreamWithoutHistoryKeepsNone() {
        database.execute("INSERT INTO outbox_stream (stream, relay_group, history) VALUES ('s', 'default', 'OFF')");
        assertThat(unknowns.done(unknown("k"), KIM)).isTrue();
        assertThat(database.number("SELECT count(*) FROM outbox_history")).isZero();
        assertThat(audit()).hasSize(1);
    }

    @Test
    void withoutAPartitionTheHistoryOverflows() {
        database.execute("DO $$ DECLARE part text; BEGIN FOR part IN SELECT inhrelid::regclass FROM pg_inherits"
                + " WHERE inhparent = 'outbox_history'::regclass LOOP EXECUTE 'DROP TABLE ' || part; END LOOP; END $$");
        assertThat(unknowns.done(unknown("k"), KIM)).isTrue();
        assertThat(database.number("SELECT count(*) FROM outbox_history_overflow"))
                .isEqualTo(1);
    }

    @Test
    void whatIsRetriedGoesBeforeLaterEventsOfItsKeyWithAllItsAttempts() {
        UUID event = unknown("k");
        long behind = database.event("s", "k");
        assertThat(unknowns.retry(event, KIM)).isTrue();
        long id = database.number("SELECT min(id) FROM outbox_event");
        assertThat(database.row(id, "status, holds, revision, attempt_count")).isEqualTo("PENDING,f,3,0");
        assertThat(owner.readIds()).containsExactly(id, behind);
    }

    @ParameterizedTest
    @CsvSource({"HOLD_KEY, true, false", "SKIP, false, false", "STOP_STREAM, true, true"})
    void whatIsDeadIsTreatedAsItsStreamTreatsItsDead(String onDead, boolean holds, boolean paused) {
        database.execute(
                "INSERT INTO outbox_stream (stream, relay_group, on_dead) VALUES ('s', 'default', '" + onDead + "')");
        assertThat(unknowns.dead(unknown("k"), "NO_SUCH_ACCOUNT", "closed", KIM))
                .isTrue();
        assertThat(DeadLetters.of(database.dataSource()).find(DeadLetterQuery.all()))
                .singleElement()
                .satisfies(letter -> {
                    assertThat(letter.errorCode() + " " + letter.errorMessage()).isEqualTo("NO_SUCH_ACCOUNT closed");
                    assertThat(letter.holdsKey()).isEqualTo(holds);
                    assertThat(letter.attempts()).isEqualTo(2);
                });
        assertThat(database.number("SELECT count(*) FROM outbox_stream WHERE paused_by = 'kim'"))
                .isEqualTo(paused ? 1 : 0);
    }

    @ParameterizedTest
    @CsvSource({"DONE, RETRY", "RETRY, DONE", "DEAD, RETRY", "RETRY, RETRY", "DONE, DONE", "DEAD, DEAD"})
    void ofTwoWhoActAtOnceOnlyTheFirstDoes(Action first, Action second) throws Exception {
        unknown("k");
        List<UnknownEvent> found = all();
        try (OpenTransaction kim = database.begin()) {
            assertThat(first.run(unknowns.on(kim.connection()), found, KIM)).isEqualTo(1);
            Background<Integer> sam = Background.start(() -> second.run(unknowns, found, SAM));
            kim.awaitSomebodyBlocked();
            kim.commit();
            assertThat(sam.get()).isZero();
        }
        assertThat(audit()).containsExactly(first.audited("kim", "asked the bank"));
    }

    @ParameterizedTest
    @EnumSource(Action.class)
    void inTheCallersTransactionItIsThereWhenThatIsCommitted(Action action) throws Exception {
        UUID event = unknown("k");
        try (OpenTransaction callers = database.begin()) {
            assertThat(action.run(unknowns.on(callers.connection()), event, KIM))
                    .isTrue();
            assertThat(all()).hasSize(1);
            callers.rollback();
        }
        assertThat(all()).hasSize(1);
        assertThat(audit()).isEmpty();
        try (Connection careless = database.connect()) {
            assertThatThrownBy(() -> action.run(unknowns.on(careless), all(), KIM))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageStartingWith("No transaction is open, so to ");
        }
    }

    @ParameterizedTest
    @EnumSource(Action.class)
    void nobodyActsOnWhatHasChangedSinceItWasFound(Action action) {
        unknown("k");
        List<UnknownEvent> found = all();
        database.execute("UPDATE outbox_event SET revision = revision + 1");
        assertThat(action.run(unknowns, found, KIM)).isZero();
        database.execute("UPDATE outbox_event SET revision = revision - 1, status = 'DEAD'");
        assertThat(action.run(unknowns, found, KIM)).isZero();
        database.execute("UPDATE outbox_event SET status = 'UNKNOWN', event_id = gen_random_uuid()");
        assertThat(action.run(unknowns, found, KIM)).isZero();
        assertThat(audit()).isEmpty();
    }

    @Test
    void theyAreFoundByStreamAndAgePageByPageAndAreNoDeadLetters() {
        unknown("a");
        unknown("b");
        unknown("c");
        database.event("other", "k", "status = 'UNKNOWN'");
        database.execute("UPDATE outbox_event SET last_attempt_at = clock_timestamp() - interval '1 hour'"
                + " WHERE event_key <> 'c'");
        List<UnknownEvent> first = unknowns.find("s", Duration.ofMinutes(5), 0, 1);
        assertThat(first).extracting(event -> event.key().orElse("")).containsExactly("a");
        assertThat(unknowns.find("s", Duration.ofMinutes(5), first.get(0).id(), 10))
                .extracting(event -> event.key().orElse(""))
                .containsExactly("b");
        assertThat(unknowns.find(null, Duration.ZERO, 0, 10)).hasSize(4);
        assertThat(DeadLetters.of(database.dataSource()).find(DeadLetterQuery.all()))
                .isEmpty();
        assertThatThrownBy(() -> unknowns.find(null, Duration.ZERO, 0, 1001))
                .hasMessage("A page has 1 to 1000 unknown events, not 1001.");
    }

    private static UUID unknown(String key) {
        long id = database.event(
                "s",
                key,
                "status = 'UNKNOWN', holds = true, revision = 2, attempt_count = 2, last_error_code = 'CUT',"
                        + " last_attempt_at = clock_timestamp()");
        return UUID.fromString(database.row(id, "event_id"));
    }

    private List<UnknownEvent> all() {
        return unknowns.find(null, Duration.ZERO, 0, 100);
    }

    private static List<String> audit() {
        return database.column("SELECT concat_ws(' ', who, action, stream, reason) FROM outbox_audit ORDER BY id");
    }
}
