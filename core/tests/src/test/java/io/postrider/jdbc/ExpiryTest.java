// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.handler.Handlers;
import io.postrider.ops.Actor;
import io.postrider.ops.DeadLetter;
import io.postrider.ops.DeadLetterQuery;
import io.postrider.ops.DeadLetters;
import io.postrider.ops.Edit;
import io.postrider.ops.UnknownEvent;
import io.postrider.ops.Unknowns;
import io.postrider.relay.DrainResult;
import io.postrider.relay.Feed;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import io.postrider.relay.RelaySettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is worthless after a time is not sent after it, whichever way it would have gone. */
class ExpiryTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration AT_ONCE = Duration.ofNanos(1000);
    private static final Actor KIM = new Actor("kim", "fixed");
    private static final String DEAD_BY_EXPIRY = "DEAD,EXPIRED,0,f";
    private static final String STATE = "status, last_error_code, attempt_count, holds";

    private final JdbcOutbox outbox = JdbcOutbox.of(database.dataSource()).withLease(Duration.ofMinutes(1));
    private final List<String> sent = Collections.synchronizedList(new ArrayList<>());
    private final List<String> told = Collections.synchronizedList(new ArrayList<>());
    private final Publisher recording = event -> {
        sent.add(event.type());
        return CompletableFuture.completedFuture(null);
    };
    private final List<Relay> relays = new ArrayList<>();

    @BeforeEach
    void clear() {
        database.clear();
    }

    @AfterEach
    void close() {
        relays.forEach(Relay::close);
    }

    @Test
    void anExpiredEventIsDeadWithoutAnAttemptAndHoldsNobody() {
        append(event("late").expiresIn(AT_ONCE), event("behind"));
        start(OrderedFeed.of(database.dataSource()), recording);
        awaitSent("behind");
        assertThat(state("late")).isEqualTo(DEAD_BY_EXPIRY);
        assertThat(database.column("SELECT last_attempt_at FROM outbox_event WHERE event_type = 'late'"))
                .containsExactly("null");
        assertThat(database.number("SELECT count(*) FROM outbox_attempt")).isZero();
        assertThat(told).containsExactly("late 0 EXPIRED");
    }

    @Test
    void itsStreamDoesNotStopEvenIfItStopsForTheDead() {
        StreamSettings stops = StreamSettings.of("s").withOnDead(StreamSettings.OnDead.STOP_STREAM);
        append(event("late").expiresIn(AT_ONCE), event("behind"));
        start(OrderedFeed.builder(database.dataSource()).streams(stops).build(), recording);
        awaitSent("behind");
        assertThat(database.number("SELECT count(*) FROM outbox_stream WHERE paused_at IS NOT NULL"))
                .isZero();
    }

    @Test
    void whoSkipsTheDeadIsToldOfTheGap() {
        StreamSettings skips = StreamSettings.of("s").withOnDead(StreamSettings.OnDead.SKIP);
        append(event("late").expiresIn(AT_ONCE), event("behind"));
        List<String> gaps = Collections.synchronizedList(new ArrayList<>());
        start(OrderedFeed.builder(database.dataSource()).streams(skips).build(), event -> {
            gaps.add(event.headers().getOrDefault("postrider-gap", "none"));
            return recording.publish(event);
        });
        awaitSent("behind");
        assertThat(gaps).isEqualTo(database.column("SELECT event_id FROM outbox_event WHERE event_type = 'late'"));
    }

    @Test
    void aDrainGoesOnWithWhatAnExpiredOneWasHolding() {
        append(event("late").expiresIn(Duration.ofHours(1)), event("behind"));
        database.execute("UPDATE outbox_event SET status = 'WAITING', holds = true, attempt_count = 1,"
                + " expires_at = clock_timestamp() WHERE event_type = 'late'");
        assertThat(Relay.from(OrderedFeed.of(database.dataSource()))
                        .to(recording)
                        .build()
                        .drain(Long.MAX_VALUE))
                .isEqualTo(new DrainResult(1, 0, 1, true));
    }

    @Test
    void whatIsInTimeIsSentAndARetryThatComesTooLateKeepsItsAttempts() {
        append(event("in time").expiresIn(Duration.ofHours(1)), event("retried").expiresIn(Duration.ofHours(1)));
        database.execute("UPDATE outbox_event SET status = 'WAITING', holds = true, attempt_count = 2,"
                + " expires_at = clock_timestamp() WHERE event_type = 'retried'");
        start(OrderedFeed.of(database.dataSource()), recording);
        awaitSent("in time");
        await().atMost(PATIENCE).until(() -> state("retried").equals("DEAD,EXPIRED,2,f"));
    }

    @Test
    void behindAHeldKeyItDiesWhenItGetsItsTurn() {
        long first = database.event("s", "k", "status = 'DEAD', holds = true");
        append(event("late").expiresIn(AT_ONCE), event("other").key("j"));
        start(OrderedFeed.of(database.dataSource()), recording);
        awaitSent("other");
        assertThat(state("late")).isEqualTo("PENDING,0,f");
        database.execute("UPDATE outbox_event SET holds = false WHERE id = " + first);
        await().atMost(PATIENCE).until(() -> state("late").equals(DEAD_BY_EXPIRY));
        assertThat(sent).containsExactly("other");
    }

    @Test
    void whatIsPublishedOnCommitIsLeftToTheOwnerOfItsShardIfItHasExpired() {
        database.leaveAShardToOthers();
        Relay relay = start(Relay.from(OrderedFeed.of(database.dataSource()))
                .to(recording)
                .listener(told())
                .publishesOnCommit(outbox.bell()));
        outbox.transact(tx -> tx.append(List.of(
                event("in time").expiresIn(Duration.ofHours(1)).build(),
                event("late").expiresIn(AT_ONCE).build(),
                event("unkeyed")
                        // Of an id, so that its shard is not the one that others have.
                        .id(UUID.fromString("0190a5b4-7b5a-7e00-8000-000000000001"))
                        .unkeyed()
                        .expiresIn(AT_ONCE)
                        .build(),
                event("behind").build())));
        awaitSent("in time", "behind");
        await().atMost(PATIENCE).until(() -> told.size() == 2);
        assertThat(state("late")).isEqualTo(DEAD_BY_EXPIRY);
        assertThat(state("unkeyed")).isEqualTo(DEAD_BY_EXPIRY);
        await().atMost(PATIENCE).until(() -> relay.publishedOnCommitCount() > 0);
    }

    @Test
    void aWorkerOfACompetingStreamDoesNotHandleItInWhicheverTransaction() {
        StreamSettings stops = StreamSettings.of("s").withOnDead(StreamSettings.OnDead.STOP_STREAM);
        append(event("late").expiresIn(AT_ONCE), event("in time"));
        SameTransaction once = SameTransaction.of(database.dataSource());
        Handlers handlers = Handlers.builder()
                .otherwise()
                .settle(once.run(
                        bytes -> bytes,
                        (bytes, tx) -> sent.add(tx.context().event().type())))
                .build();
        start(CompetingFeed.builder(database.dataSource()).streams(stops).build(), handlers);
        awaitSent("in time");
        await().atMost(PATIENCE).until(() -> state("late").equals(DEAD_BY_EXPIRY));
        assertThat(database.number("SELECT count(*) FROM outbox_attempt")).isZero();
        assertThat(database.number("SELECT count(*) FROM outbox_stream WHERE paused_at IS NOT NULL"))
                .isZero();
    }

    @Test
    void whatExpiresWhileItWaitsInTheProcessIsNotSentEither() {
        CompletableFuture<Void> first = new CompletableFuture<>();
        append(event("first"), event("late").expiresIn(Duration.ofSeconds(2)));
        start(OrderedFeed.of(database.dataSource()), event -> {
            recording.publish(event);
            return first;
        });
        awaitSent("first");
        await().atMost(PATIENCE)
                .until(() -> database.number("SELECT count(*) FROM outbox_event WHERE expires_at <= clock_timestamp()")
                        == 1);
        first.complete(null);
        await().atMost(PATIENCE).until(() -> state("late").equals(DEAD_BY_EXPIRY));
        assertThat(sent).containsExactly("first");
    }

    @Test
    void whoHasItDeliveredAfterAllDoesNotHaveItExpireAgain() {
        database.event("s", "k", "status = 'DEAD', expires_at = clock_timestamp(), event_type = 'requeued'");
        database.event(
                "s", "j", "status = 'DEAD', expires_at = clock_timestamp() + interval '1 h', event_type = 'in time'");
        DeadLetters letters = DeadLetters.of(database.dataSource());
        assertThat(letters.requeue(letters.find(DeadLetterQuery.all()), KIM)).isEqualTo(2);
        database.event("s", "l", "status = 'DEAD', expires_at = clock_timestamp(), event_type = 'edited'");
        DeadLetter edited = letters.find(DeadLetterQuery.all()).get(0);
        assertThat(letters.edit(edited, Edit.none().payload(new byte[0]), KIM)).isTrue();
        database.event("s", "m", "status = 'UNKNOWN', expires_at = clock_timestamp(), event_type = 'retried'");
        Unknowns unknowns = Unknowns.of(database.dataSource());
        List<UnknownEvent> found = unknowns.find("s", Duration.ZERO, 0, 10);
        assertThat(unknowns.retry(found, KIM)).isEqualTo(1);
        assertThat(database.column(
                        "SELECT event_type || ' ' || (expires_at IS NOT NULL) FROM outbox_event WHERE status = 'PENDING'"
                                + " ORDER BY id"))
                .containsExactly("requeued false", "in time true", "edited false", "retried false");
    }

    private void append(OutboxEvent.Builder... events) {
        for (OutboxEvent.Builder event : events) {
            outbox.transact(tx -> tx.append(event.build()));
        }
    }

    private static OutboxEvent.Builder event(String type) {
        return OutboxEvent.of("s", type).key("k").json("{}");
    }

    private static String state(String type) {
        return database.column(
                        "SELECT concat_ws(',', " + STATE + ") FROM outbox_event WHERE event_type = '" + type + "'")
                .get(0);
    }

    private void awaitSent(String... types) {
        await().atMost(PATIENCE).until(() -> sent.size() == types.length);
        assertThat(sent).containsExactly(types);
    }

    private void start(Feed feed, Publisher publisher) {
        start(Relay.from(feed).to(publisher).listener(told()));
    }

    private Relay start(RelaySettings.Builder settings) {
        Relay relay = settings.build();
        relays.add(relay);
        relay.start();
        return relay;
    }

    private RelayListener told() {
        return new RelayListener() {
            @Override
            public void dead(OutboxEvent event, int attempts, String code, String message) {
                told.add(event.type() + " " + attempts + " " + code);
            }
        };
    }
}
