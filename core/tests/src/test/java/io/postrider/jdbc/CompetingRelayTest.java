// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.relay.DestinationDownException;
import io.postrider.relay.Feed;
import io.postrider.relay.FeedException;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RelaySettings;
import io.postrider.relay.Window;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Competing streams from the append to the answer, by whole relays. */
class CompetingRelayTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private final JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());

    @BeforeEach
    void clear() {
        database.clear();
    }

    /** Answers when a test says so. */
    private static final class Slow implements Publisher {
        final Queue<CompletableFuture<Void>> underWay = new ConcurrentLinkedQueue<>();
        final AtomicInteger begun = new AtomicInteger();

        @Override
        public CompletionStage<?> publish(OutboxEvent event) {
            CompletableFuture<Void> answer = new CompletableFuture<>();
            underWay.add(answer);
            begun.incrementAndGet();
            return answer;
        }

        void finishOne() {
            underWay.remove().complete(null);
        }

        void finishAll() {
            while (!underWay.isEmpty()) {
                finishOne();
            }
        }
    }

    @Test
    void eventsOfOneKeyRunSideBySideAndLeaveTheTable() {
        Slow slow = new Slow();
        try (Relay relay = started(Relay.from(feed("work")).to(slow))) {
            append("work", "k", 20);
            await().atMost(PATIENCE).until(() -> slow.begun.get() == 20);
            slow.finishAll();
            await().atMost(PATIENCE).until(() -> relay.publishedCount() == 20);
        }
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
        assertThat(database.number("SELECT count(*) FROM outbox_history")).isEqualTo(20);
        assertThat(database.number("SELECT count(*) FROM outbox_relay")).isZero();
    }

    @Test
    void aPlaceThatBecomesFreeIsUsedWhateverTheOthersDo() {
        Slow slow = new Slow();
        try (Relay relay = started(Relay.from(feed("work")).to(slow).window(new Window(4, 1 << 20)))) {
            append("work", "k", 10);
            await().atMost(PATIENCE).until(() -> slow.begun.get() == 4);
            for (int done = 1; done <= 6; done++) {
                slow.finishOne();
                int begun = 4 + done;
                await().atMost(PATIENCE).until(() -> slow.begun.get() == begun);
                assertThat(slow.underWay).hasSize(4);
            }
            slow.finishAll();
            await().atMost(PATIENCE).until(() -> relay.publishedCount() == 10);
        }
    }

    @Test
    void whatLastsLongerThanItsLeaseIsSentOnce() {
        Slow slow = new Slow();
        CompetingFeed feed = CompetingFeed.builder(database.dataSource())
                .streams(StreamSettings.of("work"))
                .lease(Duration.ofSeconds(5))
                .build();
        try (Relay relay = started(Relay.from(feed).to(slow));
                Relay other = started(Relay.from(feed).to(slow).name("other"))) {
            append("work", "k", 5);
            await().atMost(PATIENCE).until(() -> slow.begun.get() == 5);
            await().during(Duration.ofSeconds(9)).atMost(PATIENCE).until(() -> slow.begun.get() == 5);
            slow.finishAll();
            await().atMost(PATIENCE).until(() -> relay.publishedCount() + other.publishedCount() == 5);
        }
        assertThat(database.number("SELECT count(*) FROM outbox_history")).isEqualTo(5);
    }

    @Test
    void workersOfOneFeedShareOnePlaceAndTakeTheirOwnStreams() {
        CompetingFeed feed = feed("a", "b");
        Queue<String> a = new ConcurrentLinkedQueue<>();
        Queue<String> b = new ConcurrentLinkedQueue<>();
        try (Relay two = started(Relay.from(feed.only("b")).to(into(b)).name("two"))) {
            try (Relay one = started(Relay.from(feed.only("a")).to(into(a)).name("one"))) {
                assertThat(database.column("SELECT name || wants || array_length(streams, 1) FROM outbox_relay"))
                        .containsExactly("twoCLAIMS2");
                append("a", "k", 3);
                append("b", "k", 4);
                await().atMost(PATIENCE).until(() -> one.publishedCount() == 3 && two.publishedCount() == 4);
            }
            assertThat(database.number("SELECT count(*) FROM outbox_relay")).isEqualTo(1);
            append("b", "k", 1);
            await().atMost(PATIENCE).until(() -> two.publishedCount() == 5);
        }
        assertThat(a).containsOnly("a").hasSize(3);
        assertThat(b).containsOnly("b").hasSize(5);
        assertThat(database.number("SELECT count(*) FROM outbox_relay")).isZero();
    }

    @Test
    void anOutageBurnsNoAttemptAndLeavesNoLease() {
        AtomicBoolean up = new AtomicBoolean();
        AtomicInteger sends = new AtomicInteger();
        Publisher down = event -> {
            sends.incrementAndGet();
            return up.get()
                    ? CompletableFuture.completedFuture(null)
                    : CompletableFuture.failedFuture(new DestinationDownException("DOWN", "down", null));
        };
        append("work", "k", 25);
        try (Relay relay = started(Relay.from(feed("work")).to(down))) {
            await().atMost(PATIENCE)
                    .until(() -> sends.get() >= 30
                            && database.number("SELECT count(*) FROM outbox_event WHERE locked_by IS NULL") >= 24);
            up.set(true);
            await().atMost(PATIENCE).until(() -> relay.publishedCount() == 25);
        }
        assertThat(database.number("SELECT sum(attempt_count) FROM outbox_history"))
                .isZero();
        assertThat(database.number("SELECT count(*) FROM outbox_attempt")).isZero();
    }

    @Test
    void afterThreeLeasesThatRanOutAnEventIsDeadAndNotSent() {
        long id = database.event("work", "k", "status = 'WAITING', locked_by = 99, unclean_count = 2, due_at = now()");
        Slow slow = new Slow();
        try (Relay relay = started(Relay.from(feed("work")).to(slow))) {
            await().atMost(PATIENCE).until(() -> database.row(id, "status").equals("DEAD"));
            assertThat(relay.inFlight()).isZero();
        }
        assertThat(database.row(id, "last_error_code, unclean_count, holds")).isEqualTo("LEASES_RAN_OUT,3,f");
        assertThat(slow.begun).hasValue(0);
        assertThat(database.number("SELECT count(*) FROM outbox_attempt")).isEqualTo(1);
    }

    @Test
    void suspectsGoThroughOneLoopOfTheProcess() {
        for (int i = 0; i < 40; i++) {
            database.event("work", "k" + i, "status = 'WAITING', locked_by = 99, due_at = now()");
        }
        for (int i = 0; i < 2; i++) {
            database.event("work", "l" + i, "status = 'WAITING', locked_by = 99, unclean_count = 1, due_at = now()");
        }
        Slow slow = new Slow();
        try (Relay relay = started(Relay.from(feed("work")).to(slow).loops(3))) {
            Set<Integer> groups = new HashSet<>();
            while (relay.publishedCount() < 42) {
                await().atMost(PATIENCE).until(() -> !slow.underWay.isEmpty() || relay.publishedCount() == 42);
                // Time for the other loops to take some too, which they must not.
                await().during(Duration.ofMillis(200)).until(() -> true);
                groups.add(slow.underWay.size());
                slow.finishAll();
            }
            assertThat(groups).contains(16, 1).allMatch(size -> size <= 16);
        }
    }

    @Test
    void aPassEndsWhenThereAreNoSuspectsLeftEither() {
        for (int i = 0; i < 20; i++) {
            database.event("work", "k" + i, "status = 'WAITING', locked_by = 99, due_at = now()");
        }
        database.event("work", "l", "status = 'WAITING', locked_by = 99, unclean_count = 1, due_at = now()");
        database.event("work", "m");
        Relay relay =
                Relay.from(feed("work")).to(into(new ConcurrentLinkedQueue<>())).build();
        assertThat(relay.drain(1_000).published()).isEqualTo(22);
    }

    @Test
    void whatWasLeasedByAClaimWithoutAnAnswerIsGivenBackSoon() {
        CompetingFeed feed = feed("work");
        try (Relay relay = started(Relay.from(feed).to(into(new ConcurrentLinkedQueue<>())))) {
            database.event(
                    "work",
                    "k",
                    "status = 'WAITING', due_at = now() + interval '1 h', locked_by = (SELECT id FROM outbox_relay)");
            assertThatThrownBy(() -> feed.member().claiming(() -> {
                        throw new FeedException("lost", new SQLException("lost"));
                    }))
                    .isInstanceOf(FeedException.class);
            await().atMost(PATIENCE).until(() -> relay.publishedCount() == 1);
        }
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
    }

    @Test
    void anIdleProcessAsksTheDatabaseTwiceASecondHoweverManyWorkersItHas() {
        AtomicInteger statements = new AtomicInteger();
        CompetingFeed feed = CompetingFeed.builder(FailingSource.of(database.dataSource(), () -> {
                    statements.incrementAndGet();
                    return false;
                }))
                .streams(StreamSettings.of("a"), StreamSettings.of("b"), StreamSettings.of("c"))
                .build();
        List<Relay> relays = List.of(
                started(Relay.from(feed).to(into(new ConcurrentLinkedQueue<>())).loops(3)),
                started(Relay.from(feed.only("a")).to(into(new ConcurrentLinkedQueue<>()))),
                started(Relay.from(feed.only("b")).to(into(new ConcurrentLinkedQueue<>()))),
                started(Relay.from(feed.only("c")).to(into(new ConcurrentLinkedQueue<>()))));
        // What follows a start has ended when a second brings no more than that.
        await().atMost(PATIENCE).pollInterval(Duration.ofSeconds(2)).until(() -> statements.getAndSet(0) <= 10);
        long from = System.nanoTime();
        await().pollDelay(Duration.ofSeconds(4)).until(() -> statements.get() > 1);
        double perSecond = statements.get() / ((System.nanoTime() - from) / 1e9);
        relays.forEach(Relay::close);
        assertThat(perSecond).isLessThanOrEqualTo(5.0);
    }

    @Test
    void whatIsDueLaterIsSentInTimeWithoutAPoll() {
        Queue<Long> arrivals = new ConcurrentLinkedQueue<>();
        Publisher noting = event -> {
            arrivals.add(database.number("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
                    - event.occurredAt().toEpochMilli());
            return CompletableFuture.completedFuture(null);
        };
        Duration poll = Duration.ofSeconds(30);
        try (Relay relay = started(Relay.from(feed("work")).to(noting).idlePoll(poll))) {
            // By another process, as it were: no bell is rung.
            database.execute("INSERT INTO outbox_event (stream, event_type, occurred_at, due_at)"
                    + " SELECT 'work', 'T', t, t FROM (SELECT clock_timestamp() + n * interval '150 ms' AS t"
                    + " FROM generate_series(8, 17) n) x");
            await().atMost(PATIENCE).until(() -> relay.publishedCount() == 10);
        }
        // How late they are on a quiet machine, ./bench due shows.
        assertThat(arrivals).allSatisfy(late -> assertThat(late).isBetween(0L, poll.toMillis() / 2));
    }

    @Test
    void aStreamHasOneModeAndOneGroup() {
        feed("work").join(new Feed.Joining("x", 1, false)).leave();
        assertThatThrownBy(() -> start(OrderedFeed.builder(database.dataSource())
                        .streams(StreamSettings.of("work"))
                        .build()))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("Stream work is COMPETING and cannot be relayed as ORDERED as well");
        assertThatThrownBy(() -> start(CompetingFeed.builder(database.dataSource())
                        .group("others")
                        .streams(StreamSettings.of("work"))
                        .build()))
                .hasMessageContaining("Stream work belongs to relay group 'default'")
                .hasMessageContaining("by group 'others'");
        database.execute("UPDATE outbox_stream SET mode = 'ORDERED'");
        assertThatThrownBy(() -> start(feed("work")))
                .hasMessageContaining("Stream work is ORDERED and cannot be relayed as COMPETING as well");
        assertThat(database.number("SELECT count(*) FROM outbox_relay")).isZero();
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        assertThatThrownBy(() -> CompetingFeed.of(database.dataSource())).hasMessageContaining("it names none");
        assertThatThrownBy(() -> feed("a", "b").only("c"))
                .hasMessageContaining("Stream c is none of this feed's (a, b)");
        assertThatThrownBy(() -> feed("a").only()).hasMessageContaining("No stream was named");
        assertThatThrownBy(() -> feed("a").lease(Duration.ofSeconds(2)))
                .hasMessageContaining("A worker's lease of PT2S is not between the feed's (PT8S)");
        assertThatThrownBy(() -> start(Relay.from(feed("a"))
                        .to(into(new ConcurrentLinkedQueue<>()))
                        .publishesOnCommit(outbox.bell())))
                .hasMessageContaining("cannot publish on commit");
        assertThat(database.number("SELECT count(*) FROM outbox_relay")).isZero();
    }

    @Test
    void aProcessThatPublishesOnCommitLeavesCompetingStreamsToTheirWorkers() {
        Queue<String> ordered = new ConcurrentLinkedQueue<>();
        Queue<String> work = new ConcurrentLinkedQueue<>();
        try (Relay worker = started(Relay.from(feed("work")).to(into(work)).wokenBy(outbox.bell()));
                Relay committer = started(Relay.from(OrderedFeed.of(database.dataSource()))
                        .to(into(ordered))
                        .publishesOnCommit(outbox.bell()))) {
            for (int i = 0; i < 20; i++) {
                outbox.transact(tx -> tx.append(List.of(
                        OutboxEvent.of("work", "T").key("k").build(),
                        OutboxEvent.of("events", "T").key("k").build())));
            }
            await().atMost(PATIENCE).until(() -> worker.publishedCount() == 20 && committer.publishedCount() == 20);
        }
        assertThat(work).containsOnly("work").hasSize(20);
        assertThat(ordered).containsOnly("events").hasSize(20);
    }

    @Test
    void onePassTakesWhatIsThere() {
        append("work", "k", 30);
        Relay relay =
                Relay.from(feed("work")).to(into(new ConcurrentLinkedQueue<>())).build();
        assertThat(relay.drain(1000).published()).isEqualTo(30);
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
        assertThat(database.number("SELECT count(*) FROM outbox_relay")).isZero();
    }

    private static CompetingFeed feed(String... streams) {
        return CompetingFeed.of(database.dataSource(), streams);
    }

    private static Publisher into(Queue<String> streams) {
        return event -> {
            streams.add(event.stream());
            return CompletableFuture.completedFuture(null);
        };
    }

    private static void start(Feed feed) {
        start(Relay.from(feed).to(into(new ConcurrentLinkedQueue<>())));
    }

    private static void start(RelaySettings.Builder builder) {
        started(builder).close();
    }

    private static Relay started(RelaySettings.Builder builder) {
        Relay relay = builder.build();
        relay.start();
        return relay;
    }

    private void append(String stream, String key, int count) {
        outbox.transact(tx -> {
            for (int i = 0; i < count; i++) {
                tx.append(OutboxEvent.of(stream, "T").key(key).text("x").build());
            }
        });
    }
}
