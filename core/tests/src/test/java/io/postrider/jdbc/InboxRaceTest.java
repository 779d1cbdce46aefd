// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two transactions at the same event. */
class InboxRaceTest {
    private static final String SERIALIZATION_FAILURE = "40001";
    private static final TestDatabase database = TestDatabase.migrated();

    private final JdbcInbox inbox = JdbcInbox.of(database.dataSource());
    private final UUID event = UUID.randomUUID();
    private final AtomicInteger runs = new AtomicInteger();

    @Test
    void theSecondWaitsForTheFirstAndDoesNothingIfThatCommits() throws Exception {
        try (OpenTransaction first = database.begin()) {
            inbox.on(first.connection()).once("billing", event, runs::incrementAndGet);
            Background<Boolean> second = Background.start(this::transact);
            first.awaitSomebodyBlocked();
            assertThat(runs)
                    .as("not before it is known what becomes of the first")
                    .hasValue(1);
            first.commit();
            assertThat(second.get()).isFalse();
        }
        assertThat(runs).hasValue(1);
    }

    @Test
    void theSecondWaitsForTheFirstAndRunsIfThatRollsBack() throws Exception {
        try (OpenTransaction first = database.begin()) {
            inbox.on(first.connection()).once("billing", event, runs::incrementAndGet);
            Background<Boolean> second = Background.start(this::transact);
            first.awaitSomebodyBlocked();
            first.rollback();
            assertThat(second.get()).isTrue();
        }
        assertThat(runs).hasValue(2);
    }

    @Test
    void theSecondRunsIfTheSessionOfTheFirstIsLost() throws Exception {
        try (OpenTransaction first = database.begin()) {
            inbox.on(first.connection()).once("billing", event, runs::incrementAndGet);
            database.endSessions();
        }
        assertThat(transact()).isTrue();
    }

    @Test
    void consumersAndEventsDoNotWaitForOthers() throws Exception {
        try (OpenTransaction first = database.begin()) {
            inbox.on(first.connection()).once("billing", event, runs::incrementAndGet);
            assertThat(inbox.transact("shipping", event, tx -> runs.incrementAndGet()))
                    .isTrue();
            assertThat(inbox.transact("billing", UUID.randomUUID(), tx -> runs.incrementAndGet()))
                    .isTrue();
            first.commit();
        }
        assertThat(runs).hasValue(3);
    }

    @Test
    void ofManyAtTheSameEventOneRuns() throws Exception {
        List<Background<Boolean>> all;
        try (OpenTransaction first = database.begin()) {
            inbox.on(first.connection()).once("billing", event, () -> {});
            all = List.of(
                    Background.start(this::transact),
                    Background.start(this::transact),
                    Background.start(this::transact),
                    Background.start(this::transact));
            first.awaitSomebodyBlocked();
            first.rollback();
        }
        int ran = 0;
        for (Background<Boolean> each : all) {
            ran += each.get() ? 1 : 0;
        }
        assertThat(ran).isEqualTo(1);
        assertThat(runs).hasValue(1);
        assertThat(inbox.duplicateCount()).isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    void aSnapshotFromBeforeTheFirstCommittedFailsAndIsADuplicateWhenRepeated(int isolation) throws Exception {
        try (OpenTransaction second = at(isolation)) {
            transact();
            Throwable failure = Background.start(() -> once(second)).failure().orElseThrow();
            assertSerializationFailure(failure);
            second.rollback();
            assertThat(once(second)).as("repeated").isFalse();
        }
        assertThat(runs).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    void atHigherIsolationTooTheSecondWaitsAndFailsIfTheFirstCommits(int isolation) throws Exception {
        try (OpenTransaction first = database.begin();
                OpenTransaction second = at(isolation)) {
            inbox.on(first.connection()).once("billing", event, runs::incrementAndGet);
            Background<Boolean> waiting = Background.start(() -> once(second));
            first.awaitSomebodyBlocked();
            first.commit();
            assertSerializationFailure(waiting.failure().orElseThrow());
        }
        assertThat(runs).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    void atHigherIsolationTooTheSecondRunsIfTheFirstRollsBack(int isolation) throws Exception {
        try (OpenTransaction first = database.begin();
                OpenTransaction second = at(isolation)) {
            inbox.on(first.connection()).once("billing", event, runs::incrementAndGet);
            Background<Boolean> waiting = Background.start(() -> once(second));
            first.awaitSomebodyBlocked();
            first.rollback();
            assertThat(waiting.get()).isTrue();
            second.commit();
        }
        assertThat(transact()).isFalse();
        assertThat(runs).hasValue(2);
    }

    @Test
    void aClaimWaitsForAnotherAndReturnsWhatThatDidNotCommit() throws Exception {
        UUID other = UUID.randomUUID();
        for (boolean commits : List.of(false, true)) {
            try (OpenTransaction first = database.begin();
                    OpenTransaction second = database.begin()) {
                inbox.on(first.connection()).claim("billing", List.of(event));
                Background<Set<UUID>> waiting =
                        Background.start(() -> inbox.on(second.connection()).claim("billing", List.of(event, other)));
                first.awaitSomebodyBlocked();
                if (commits) {
                    first.commit();
                    assertThat(waiting.get()).containsExactly(other);
                } else {
                    first.rollback();
                    assertThat(waiting.get()).containsExactly(event, other);
                }
                second.rollback();
            }
        }
    }

    /** In the order given, the second would hold the greater id while it waits for the smaller one: a deadlock. */
    @Test
    void twoWhoClaimTheSameEventsDoNotWaitForEachOther() throws Exception {
        UUID smaller = UUID.fromString("00000000-0000-7000-8000-000000000001");
        UUID greater = UUID.fromString("00000000-0000-7000-8000-000000000002");
        try (OpenTransaction first = database.begin();
                OpenTransaction second = database.begin()) {
            inbox.on(first.connection()).claim("deadlock", List.of(smaller));
            Background<Set<UUID>> waiting =
                    Background.start(() -> inbox.on(second.connection()).claim("deadlock", List.of(greater, smaller)));
            first.awaitSomebodyBlocked();
            assertThat(inbox.on(first.connection()).claim("deadlock", List.of(greater)))
                    .containsExactly(greater);
            first.commit();
            assertThat(waiting.get()).isEmpty();
        }
    }

    private boolean transact() {
        return inbox.transact("billing", event, tx -> runs.incrementAndGet());
    }

    private boolean once(OpenTransaction transaction) {
        return inbox.on(transaction.connection()).once("billing", event, runs::incrementAndGet);
    }

    /** A transaction that has its snapshot already. */
    private static OpenTransaction at(int isolation) throws SQLException {
        OpenTransaction transaction = database.begin();
        transaction.connection().setTransactionIsolation(isolation);
        try (var statement = transaction.connection().createStatement()) {
            statement.execute("SELECT count(*) FROM outbox_stream");
        }
        return transaction;
    }

    private static void assertSerializationFailure(Throwable failure) {
        assertThat(failure)
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("could not serialize access")
                .hasMessageEndingWith("Roll your transaction back, then process it again.")
                .cause()
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(SERIALIZATION_FAILURE));
    }
}
