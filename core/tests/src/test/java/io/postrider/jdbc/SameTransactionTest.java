// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.handler.Context;
import io.postrider.handler.Handled;
import io.postrider.handler.Handlers;
import io.postrider.handler.Message;
import io.postrider.handler.SettlingHandler;
import io.postrider.relay.Delivery;
import io.postrider.relay.DestinationDownException;
import io.postrider.relay.NotSentException;
import io.postrider.relay.Publisher;
import io.postrider.relay.RetryableFailureException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Effects of a handler and the settling of its event are there together, once, or not at all. */
class SameTransactionTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private final JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());
    private final SameTransaction once = SameTransaction.of(outbox).name("booking");
    private Party owner;
    private Handlers handlers = handlers(once.run(SameTransactionTest::text, SameTransactionTest::book));

    @BeforeEach
    void join() {
        database.clear();
        database.execute("DROP TABLE IF EXISTS effect; CREATE TABLE effect (what text, transaction xid8)");
        owner = Party.owning(database, "owner");
        owner.ownership.renewed(System.nanoTime() + Duration.ofHours(1).toNanos());
    }

    @AfterEach
    void close() {
        handlers.close();
        owner.close();
    }

    @Test
    void theEffectIsThereAndTheEventIsInTheHistory() throws Exception {
        long id = database.event("s", "k");
        assertThat(answer(owner.read())).isEqualTo(Publisher.Settled.SETTLED);
        assertThat(effects()).containsExactly("x");
        assertThat(database.row(id, "id")).isEqualTo("gone");
        assertThat(database.column("SELECT outcome || ' by ' || settled_by FROM outbox_history"))
                .containsExactly("PUBLISHED by booking");
    }

    @Test
    void aStreamWithoutHistoryKeepsNone() throws Exception {
        database.execute("INSERT INTO outbox_stream (stream, relay_group, history) VALUES ('s', 'default', 'OFF')");
        database.event("s", "k");
        answer(owner.read());
        assertThat(effects()).hasSize(1);
        assertThat(database.number("SELECT count(*) FROM outbox_history")).isZero();
    }

    @Test
    void whatTheHandlerThrowsOrDoesNotCallDoneIsRolledBack() {
        long id = database.event("s", "k");
        use(once.run(SameTransactionTest::text, (text, tx) -> {
            book(text, tx);
            throw new IllegalStateException("no");
        }));
        assertThat(failure(owner.read())).isInstanceOf(IllegalStateException.class);
        use(once.handle(SameTransactionTest::text, (text, tx) -> {
            book(text, tx);
            tx.append(OutboxEvent.of("s", "Next").build());
            return Handled.retry("BUSY", "not now");
        }));
        assertThat(failure(owner.read())).isInstanceOf(RetryableFailureException.class);
        use(once.run(SameTransactionTest::text, (text, tx) -> {
            book(text, tx);
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute("SELECT 1 / 0");
            }
        }));
        assertThat(failure(owner.read())).isInstanceOf(SQLException.class).hasMessageContaining("division by zero");
        assertThat(effects()).isEmpty();
        assertThat(owner.readIds()).containsExactly(id);
    }

    @Test
    void eventsOfItsOwnAreThereWithTheEffect() throws Exception {
        database.event("s", "k");
        use(once.run(SameTransactionTest::text, (text, tx) -> {
            book(text, tx);
            tx.append(OutboxEvent.of("next", "Booked")
                    .header("cause", tx.context().event().id().toString())
                    .build());
        }));
        answer(owner.read());
        assertThat(database.column("SELECT stream FROM outbox_event")).containsExactly("next");
    }

    @Test
    void whatSomebodyElseHasSettledIsRolledBackWithoutAVerdict() {
        database.event("s", "k");
        List<Delivery> taken = owner.read();
        database.execute("DELETE FROM outbox_event");
        assertFenced(failure(taken));
    }

    @Test
    void whatSomebodyElseHasJudgedIsRolledBack() {
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        assertThat(owner.retry(taken, Duration.ZERO)).containsExactly(id);
        assertFenced(failure(taken));
        assertThat(database.row(id, "revision, attempt_count")).isEqualTo("1,1");
    }

    @Test
    void whoComesSecondWaitsForTheFirstAndMakesNoEffect() throws Exception {
        database.event("s", "k");
        List<Delivery> taken = owner.read();
        try (OpenTransaction first = database.begin()) {
            first.execute("INSERT INTO effect VALUES ('of the first')");
            first.execute("DELETE FROM outbox_event");
            CompletableFuture<?> second = deliver(taken);
            first.awaitSomebodyBlocked();
            first.commit();
            assertFencedButFor("of the first", failure(second));
        }
    }

    @Test
    void whoComesSecondGoesOnWhereTheFirstIsRolledBack() throws Exception {
        database.event("s", "k");
        List<Delivery> taken = owner.read();
        try (OpenTransaction first = database.begin()) {
            first.execute("DELETE FROM outbox_event");
            CompletableFuture<?> second = deliver(taken);
            first.awaitSomebodyBlocked();
            first.rollback();
            assertThat(second.get(20, TimeUnit.SECONDS)).isEqualTo(Publisher.Settled.SETTLED);
            assertThat(effects()).hasSize(1);
        }
    }

    @Test
    void aRowIsNotLockedWhileItsHandlerRuns() throws Exception {
        long id = database.event("s", "k");
        use(once.run(SameTransactionTest::text, (text, tx) -> {
            book(text, tx);
            database.execute("SET lock_timeout = '1s'; SELECT FROM outbox_event WHERE id = " + id
                    + " FOR UPDATE; SET lock_timeout = 0");
        }));
        assertThat(answer(owner.read())).isEqualTo(Publisher.Settled.SETTLED);
    }

    @Test
    void aCommitThatTheDatabaseRefusesIsAFailedAttempt() {
        database.execute("CREATE TABLE IF NOT EXISTS parent (id int PRIMARY KEY); DROP TABLE IF EXISTS child;"
                + " CREATE TABLE child (parent int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)");
        long id = database.event("s", "k");
        use(once.run(SameTransactionTest::text, (text, tx) -> {
            book(text, tx);
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute("INSERT INTO child VALUES (1)");
            }
        }));
        assertThat(failure(owner.read()))
                .isInstanceOf(RetryableFailureException.class)
                .extracting("code")
                .isEqualTo("NOT_COMMITTED");
        assertThat(effects()).isEmpty();
        assertThat(owner.readIds()).containsExactly(id);
    }

    @Test
    void aLostConnectionIsNoAttempt() {
        long id = database.event("s", "k");
        use(once.run(SameTransactionTest::text, (text, tx) -> {
            book(text, tx);
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute("SELECT pg_terminate_backend(pg_backend_pid())");
            }
        }));
        assertThat(failure(owner.read()))
                .isInstanceOf(DestinationDownException.class)
                .extracting("code")
                .isEqualTo("CONNECTION_LOST");
        assertThat(effects()).isEmpty();
        assertThat(owner.readIds()).containsExactly(id);
    }

    @Test
    void aStatementThatTakesTooLongIsEndedWithItsTransaction() {
        long id = database.event("s", "k");
        handlers.close();
        handlers = Handlers.builder()
                .otherwise()
                .within(Duration.ofMillis(200))
                .settle(once.run(SameTransactionTest::text, (text, tx) -> {
                    book(text, tx);
                    try (Statement statement = tx.connection().createStatement()) {
                        // Else the server would notice only when the statement ends that nobody waits for it.
                        statement.execute("SET LOCAL client_connection_check_interval = 50");
                        statement.execute("SELECT pg_sleep(60)");
                    }
                }))
                .build();
        assertThat(failure(owner.read())).extracting("code").isEqualTo("TIMEOUT");
        assertThat(effects()).isEmpty();
        assertThat(owner.readIds()).containsExactly(id);
    }

    @Test
    void withoutAPartitionTheHistoryOverflowsWhenTheEventComesAgain() throws Exception {
        database.execute("DO $$ DECLARE part text; BEGIN FOR part IN SELECT inhrelid::regclass FROM pg_inherits"
                + " WHERE inhparent = 'outbox_history'::regclass LOOP EXECUTE 'DROP TABLE ' || part; END LOOP; END $$");
        database.event("s", "k");
        assertThat(failure(owner.read()))
                .isInstanceOf(NotSentException.class)
                .extracting("code")
                .isEqualTo("NO_PARTITION");
        assertThat(effects()).isEmpty();
        answer(owner.read());
        assertThat(effects()).hasSize(1);
        assertThat(database.number("SELECT count(*) FROM outbox_history_overflow"))
                .isEqualTo(1);
    }

    @Test
    void anotherDatabaseIsNoticed() {
        TestDatabase other = TestDatabase.migrated();
        database.event("s", "k");
        use(SameTransaction.of(other.dataSource()).run(SameTransactionTest::text, (text, tx) -> {}));
        assertThat(failure(owner.read())).isInstanceOf(NotSentException.class);
        assertThat(failure(owner.read()))
                .isInstanceOf(RetryableFailureException.class)
                .hasMessageStartingWith("The event is not in the table of the handler's database.")
                .extracting("code")
                .isEqualTo("NOT_IN_THIS_DATABASE");
    }

    @Test
    void aBatchOfWhichOneIsGoneIsRolledBack() {
        long kept = database.event("s", "k");
        long gone = database.event("s", "l");
        List<Delivery> taken = owner.read();
        database.execute("DELETE FROM outbox_event WHERE id = " + gone);
        SettlingHandler batch = once.batches(10, SameTransactionTest::text, (messages, tx) -> {
            for (Message<String> each : messages) {
                book(each.body(), tx);
            }
        });
        assertThatThrownBy(() -> batch.handle(taken, Context.of(taken.get(0).event())))
                .isInstanceOf(NotSentException.class);
        assertThat(effects()).isEmpty();
        assertThat(owner.readIds()).containsExactly(kept);
    }

    private static Handlers handlers(SettlingHandler handler) {
        return Handlers.builder().otherwise().settle(handler).build();
    }

    private void use(SettlingHandler handler) {
        handlers.close();
        handlers = handlers(handler);
    }

    private static String text(byte[] payload) {
        return new String(payload, StandardCharsets.UTF_8);
    }

    private static void book(String what, SameTransaction.Tx tx) throws SQLException {
        Connection connection = tx.connection();
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO effect VALUES (?, pg_current_xact_id())")) {
            insert.setString(1, what);
            insert.executeUpdate();
        }
    }

    private static List<String> effects() {
        return database.column("SELECT what FROM effect");
    }

    private CompletableFuture<?> deliver(List<Delivery> taken) {
        return handlers.deliver(taken.get(0)).toCompletableFuture();
    }

    private Object answer(List<Delivery> taken) throws Exception {
        return deliver(taken).get(20, TimeUnit.SECONDS);
    }

    private Throwable failure(List<Delivery> taken) {
        return failure(deliver(taken));
    }

    private static Throwable failure(CompletableFuture<?> stage) {
        try {
            return new AssertionError("No failure: " + stage.get(20, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            return Objects.requireNonNull(e.getCause());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static void assertFenced(Throwable failure) {
        assertThat(failure)
                .isInstanceOf(NotSentException.class)
                .extracting("code")
                .isEqualTo("FENCED");
        assertThat(effects()).isEmpty();
    }

    private static void assertFencedButFor(String effect, Throwable failure) {
        assertThat(failure).isInstanceOf(NotSentException.class);
        assertThat(effects()).containsExactly(effect);
    }
}
