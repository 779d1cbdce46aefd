// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.handler.Handlers;
import io.postrider.ops.Actor;
import io.postrider.ops.Alerts;
import io.postrider.ops.Backlog;
import io.postrider.ops.Checkup;
import io.postrider.ops.DeadLetter;
import io.postrider.ops.DeadLetterQuery;
import io.postrider.ops.DeadLetters;
import io.postrider.ops.Edit;
import io.postrider.ops.HeldKeys;
import io.postrider.ops.History;
import io.postrider.ops.LogChannel;
import io.postrider.ops.Relays;
import io.postrider.ops.Retention;
import io.postrider.ops.Streams;
import io.postrider.ops.Undelivered;
import io.postrider.ops.UnknownEvent;
import io.postrider.ops.Unknowns;
import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.Feed;
import io.postrider.relay.Intake;
import io.postrider.relay.Membership;
import io.postrider.relay.Outcome;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.Verdict;
import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.table.TableNames;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each role can do its work; {@link ForbiddenTest}: and nothing else. */
class RolesTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final Demand ALL = Demand.of(100, 1 << 20, Set.of());
    private static final Actor KIM = new Actor("kim", "fixed");

    private static final RoleUsers users = RoleUsers.of(database);

    @BeforeEach
    void clear() {
        database.clear();
    }

    @Test
    void theScriptMayBeRunAgain() {
        assertThatCode(() -> database.execute(Schema.roles())).doesNotThrowAnyException();
    }

    @Test
    void aWriterAppends() {
        JdbcOutbox outbox = JdbcOutbox.of(as("writer"));
        OutboxEvent event = event("k").header("h", "v").maxAttempts(3).build();
        outbox.transact(tx -> tx.append(
                List.of(event, event, event("l").delay(Duration.ofHours(1)).build())));
        assertThat(database.column("SELECT status FROM outbox_event ORDER BY id"))
                .containsExactly("PENDING", "WAITING");
        outbox.transact(tx -> tx.append(List.of(
                event("m").dedupKey("d").expiresIn(Duration.ofHours(1)).build(),
                event("n").dedupKey("d").build())));
        assertThat(database.column("SELECT event_key FROM outbox_event WHERE dedup_key = 'd'"))
                .containsExactly("m");
        Schema.of(as("writer")).apply(SchemaMode.VALIDATE);
    }

    @Test
    void aCommitterAppendsWhatItsRelaySends() {
        JdbcOutbox outbox = JdbcOutbox.of(as("committer")).withLease(Duration.ofMinutes(1));
        database.leaveAShardToOthers();
        AtomicInteger sent = new AtomicInteger();
        Publisher publisher = event -> CompletableFuture.completedFuture(sent.incrementAndGet());
        try (Relay relay = Relay.from(OrderedFeed.of(as("relay")))
                .to(publisher)
                .publishesOnCommit(outbox.bell())
                .build()) {
            relay.start();
            outbox.transact(tx -> tx.append(
                    List.of(event("k").build(), event("k").dedupKey("d").build())));
            await().atMost(Duration.ofSeconds(20)).until(() -> relay.publishedOnCommitCount() == 2);
        }
        outbox.transact(tx ->
                tx.append(event("l").delay(Duration.ofHours(1)).maxAttempts(3).build()));
        Schema.of(as("committer")).apply(SchemaMode.VALIDATE);
        assertThat(sent).hasValue(2);
    }

    @Test
    void aWriterWhoseRelayPublishesOnCommitIsToldWhichRoleItNeeds() {
        JdbcOutbox outbox = JdbcOutbox.of(as("writer"));
        try (Relay relay = Relay.from(OrderedFeed.of(as("relay")))
                .to(event -> CompletableFuture.completedFuture(null))
                .publishesOnCommit(outbox.bell())
                .build()) {
            relay.start();
            assertThatThrownBy(() -> outbox.transact(tx -> tx.append(event("k").build())))
                    .hasMessageContaining("permission denied")
                    .hasMessageContaining("postrider_committer where a relay of the same process publishes on commit");
        }
    }

    @Test
    void aLesseeWithTheRightsOfARelayGivesBack() {
        JdbcOutbox outbox = JdbcOutbox.of(as("committer"));
        Relay relay = Relay.from(OrderedFeed.of(as("relay")))
                .to(event -> new CompletableFuture<>())
                .publishesOnCommit(outbox.bell())
                .stopTime(Duration.ofMillis(100))
                .build();
        relay.start();
        outbox.transact(tx -> tx.append(event("k").build()));
        relay.close();
        assertThat(database.column("SELECT status FROM outbox_event")).containsExactly("PENDING");
    }

    @Test
    void aRelayDeliversRetriesBuriesAndKeepsTheHousehold() {
        database.execute("INSERT INTO outbox_stream (stream, relay_group, on_dead)"
                + " VALUES ('stops', 'default', 'STOP_STREAM')");
        append(event("k").build(), OutboxEvent.of("stops", "T").key("k").build());
        DataSource relay = as("relay");
        Membership membership = OrderedFeed.builder(relay)
                .streams(StreamSettings.of("s"))
                .build()
                .join(new Feed.Joining("relay", 1, true));
        try (Intake intake = membership.intake(0)) {
            List<Delivery> taken = intake.take(ALL).deliveries();
            assertThat(taken).hasSize(2);
            assertThat(intake.verdict(taken.stream()
                            .map(each -> new Verdict(each, new Outcome.Retry(Duration.ZERO, "BUSY", "busy")))
                            .toList()))
                    .hasSize(2);
            List<Delivery> again = intake.take(ALL).deliveries();
            intake.settle(again.subList(0, 1));
            assertThat(intake.verdict(List.of(new Verdict(again.get(1), new Outcome.Dead("BAD", "bad")))))
                    .hasSize(1);
            append(event("later").build());
            SettleRaceTest.dropPartitions(database);
            intake.settle(intake.take(ALL).deliveries());
        }
        assertThat(database.number("SELECT count(*) FROM outbox_history_overflow"))
                .isEqualTo(1);
        assertThat(new Retention(relay, TableNames.ofDefaults(), Duration.ofDays(7))
                        .run()
                        .partitionsMade())
                .isEqualTo(15);
        membership.leave();
    }

    @Test
    void aRelayTellsPeopleAndAViewerSeesWhatTheyWereTold() throws SQLException {
        database.event("s", "k", "status = 'DEAD', holds = true");
        Alerts.builder(as("relay")).tell(new LogChannel()).build().look();
        try (Connection connection = as("viewer").getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT subject FROM outbox_alert WHERE told_at IS NOT NULL")) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.getString(1)).isEqualTo("s");
        }
    }

    @Test
    void aRelayDeclaresAnotherDeadAndTakesItsPlace() {
        Membership first = OrderedFeed.of(as("relay")).join(new Feed.Joining("first", 1, false));
        database.execute("UPDATE outbox_relay SET lease_until = clock_timestamp() - interval '1 second'");
        Membership second = OrderedFeed.of(as("relay")).join(new Feed.Joining("second", 1, false));
        second.tick(Party.QUIET);
        second.tick(Party.QUIET);
        assertThat(database.column("SELECT DISTINCT r.name FROM outbox_shard s JOIN outbox_relay r ON r.id = s.owner"))
                .containsExactly("second");
        first.leave();
        second.leave();
    }

    @Test
    void anOperatorActsOnDeadLettersAndStreams() {
        for (String key : List.of("a", "b", "c")) {
            database.event("s", key, "status = 'DEAD', holds = true, last_error_code = 'BAD'");
        }
        database.execute("INSERT INTO outbox_stream (stream, relay_group) VALUES ('s', 'default')");
        DeadLetters letters = DeadLetters.of(as("operator"));
        List<DeadLetter> found = letters.find(DeadLetterQuery.all());
        assertThat(letters.requeue(found.subList(0, 1), KIM)).isEqualTo(1);
        assertThat(letters.unhold(found.subList(1, 2), KIM)).isEqualTo(1);
        assertThat(letters.discard(found.subList(2, 3), KIM)).isEqualTo(1);
        assertThat(letters.attempts(found.get(0).eventId())).isEmpty();
        Streams streams = Streams.of(as("operator"));
        assertThat(streams.pause("s", KIM)).isTrue();
        assertThat(streams.resume("s", KIM)).isTrue();
        assertThat(database.column("SELECT action FROM outbox_audit ORDER BY id"))
                .containsExactly("requeue", "unhold", "discard", "pause", "resume");
    }

    @Test
    void anOperatorSaysWhatBecameOfUnknownEvents() {
        for (String key : List.of("a", "b", "c")) {
            database.event("s", key, "status = 'UNKNOWN', holds = true, last_error_code = 'CUT'");
        }
        database.execute(
                "INSERT INTO outbox_stream (stream, relay_group, on_dead)" + " VALUES ('s', 'default', 'STOP_STREAM')");
        Unknowns unknowns = Unknowns.of(as("operator"));
        List<UnknownEvent> found = unknowns.find(null, Duration.ZERO, 0, 10);
        assertThat(unknowns.done(found.subList(0, 1), KIM)).isEqualTo(1);
        assertThat(unknowns.retry(found.subList(1, 2), KIM)).isEqualTo(1);
        assertThat(unknowns.dead(found.subList(2, 3), "LOST", "no", KIM)).isEqualTo(1);
        assertThat(database.column("SELECT action FROM outbox_audit ORDER BY id"))
                .containsExactly("done", "retry", "dead");
    }

    @Test
    void aHandlerInTheSameTransactionNeedsTheRightsOfARelayAndToAppendThoseOfAWriter() {
        database.execute("CREATE TABLE IF NOT EXISTS effect (what text); GRANT INSERT ON effect TO a_relay;"
                + " GRANT postrider_writer TO a_relay");
        database.event("s", "k");
        Handlers handlers = Handlers.builder()
                .on("next", "Booked")
                .run(event -> {})
                .otherwise()
                .settle(SameTransaction.of(as("relay")).run(payload -> payload, (payload, tx) -> {
                    try (Statement statement = tx.connection().createStatement()) {
                        statement.execute("INSERT INTO effect VALUES ('x')");
                    }
                    tx.append(OutboxEvent.of("next", "Booked").build());
                }))
                .build();
        try (Relay relay = Relay.from(OrderedFeed.of(as("relay"))).to(handlers).build()) {
            relay.start();
            await().atMost(Duration.ofSeconds(20)).until(() -> relay.publishedCount() == 2);
        } finally {
            database.execute("REVOKE postrider_writer FROM a_relay; DROP TABLE effect");
        }
    }

    @Test
    void anEditorChangesWhatADeadLetterSaysAndAnOperatorDoesNot() {
        database.event("s", "k", "status = 'DEAD', holds = true, last_error_code = 'BAD', dedup_key = 'd'");
        DeadLetter found =
                DeadLetters.of(as("editor")).find(DeadLetterQuery.all()).get(0);
        Edit edit = Edit.none().payload("y".getBytes(StandardCharsets.UTF_8));
        assertThatThrownBy(() -> DeadLetters.of(as("operator")).edit(found, edit, KIM))
                .hasMessageContaining("permission denied");
        assertThat(DeadLetters.of(as("editor")).edit(found, edit, KIM)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"viewer", "operator"})
    void whoLooksSeesWhatIsStuckAndWhoDelivers(String role) {
        database.event("s", "k", "status = 'DEAD', holds = true");
        assertThat(Backlog.of(as(role)).streams()).hasSize(1);
        assertThat(Relays.of(as(role)).members()).isEmpty();
        assertThat(HeldKeys.of(as(role)).find(null, null, 10)).hasSize(1);
        assertThat(Undelivered.of(as(role)).find("s", "k", 0, 10)).hasSize(1);
        assertThat(DeadLetters.of(as(role)).find(DeadLetterQuery.all())).hasSize(1);
        assertThat(Checkup.of(as(role)).run()).isNotEmpty();
        assertThat(History.of(as(role)).tail(null).next()).isEmpty();
    }

    @Test
    void aViewerSeesTheStateOfEvents() throws SQLException {
        database.event("s", "k");
        try (Connection connection = as("viewer").getConnection();
                Statement statement = connection.createStatement()) {
            for (String query : List.of(
                    "SELECT * FROM outbox_status",
                    "SELECT event_id, outcome, settled_at FROM outbox_history",
                    "SELECT * FROM outbox_attempt",
                    "SELECT * FROM outbox_audit",
                    "SELECT * FROM outbox_relay")) {
                assertThat(statement.execute(query)).isTrue();
            }
        }
        assertThat(database.column("SELECT column_name FROM information_schema.columns"
                        + " WHERE table_name = 'outbox_status' AND column_name IN ('payload', 'headers')"))
                .isEmpty();
    }

    @Test
    void aConsumerNotesWhatItHasProcessedAndAnOperatorPrunesIt() throws SQLException {
        UUID event = UUID.randomUUID();
        JdbcInbox inbox = JdbcInbox.of(as("consumer"));
        assertThat(inbox.transact("billing", event, tx -> {})).isTrue();
        assertThat(inbox.transact("billing", event, tx -> {})).isFalse();
        try (Connection connection = as("consumer").getConnection()) {
            connection.setAutoCommit(false);
            UUID other = UUID.randomUUID();
            assertThat(inbox.on(connection).claim("billing", List.of(event, other)))
                    .containsExactly(other);
            connection.commit();
        }
        Schema.of(as("consumer")).apply(SchemaMode.VALIDATE);
        database.execute("UPDATE inbox_message SET processed_at = now() - interval '15 days'");
        assertThat(JdbcInbox.of(as("operator")).prune()).isEqualTo(2);
    }

    private static DataSource as(String role) {
        return users.as(role);
    }

    private static OutboxEvent.Builder event(String key) {
        return OutboxEvent.of("s", "T").key(key);
    }

    private static void append(OutboxEvent... events) {
        JdbcOutbox.of(as("writer")).transact(tx -> tx.append(List.of(events)));
    }
}
