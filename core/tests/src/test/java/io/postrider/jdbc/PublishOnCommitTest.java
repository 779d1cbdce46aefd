// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.relay.Bell;
import io.postrider.relay.DestinationDownException;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RelaySettings;
import io.postrider.relay.RetryableFailureException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Events are sent by the process that wrote them, right after their commit; the relay is the net. */
class PublishOnCommitTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final TestDatabase database = TestDatabase.migrated();
    /** With leases that are longer than any machine stands still. */
    private final JdbcOutbox outbox = JdbcOutbox.of(database.dataSource()).withLease(Duration.ofMinutes(1));

    private final List<String> sent = Collections.synchronizedList(new ArrayList<>());
    private final List<Relay> relays = new ArrayList<>();

    private final Publisher recording = event -> {
        sent.add(event.key().orElse("") + ":" + event.type());
        return CompletableFuture.completedFuture(null);
    };

    @BeforeEach
    void ownNotAllShards() {
        database.leaveAShardToOthers();
    }

    @AfterEach
    void close() {
        relays.forEach(Relay::close);
    }

    @Test
    void allIsSentAtItsCommitInOrderAndLeavesTheTable() {
        Relay relay = started(from(recording).publishesOnCommit(outbox.bell()));
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            int n = i;
            outbox.transact(tx -> tx.append(event("k" + n % 3, "T" + n)));
            expected.add("k" + n % 3 + ":T" + n);
        }
        await().atMost(PATIENCE).until(() -> relay.publishedCount() == 100);
        assertThat(relay.publishedOnCommitCount()).isEqualTo(100);
        for (String key : List.of("k0:", "k1:", "k2:")) {
            assertThat(sent.stream().filter(each -> each.startsWith(key)))
                    .containsExactlyElementsOf(expected.stream()
                            .filter(each -> each.startsWith(key))
                            .toList());
        }
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
        assertThat(database.number("SELECT count(*) FROM outbox_history WHERE outcome = 'PUBLISHED'"))
                .isEqualTo(100);
    }

    @Test
    void whatIsRolledBackIsNeverSeenAndHoldsNobody() throws Exception {
        Relay relay = started(from(recording).publishesOnCommit(outbox.bell()));
        try {
            outbox.transact(tx -> {
                tx.append(event("k", "ghost"));
                throw new IllegalStateException("no");
            });
        } catch (IllegalStateException e) {
            // As it was meant.
        }
        outbox.transact(tx -> {
            tx.append(event("k", "first"));
            var savepoint = tx.connection().setSavepoint();
            tx.append(event("k", "ghost"));
            tx.connection().rollback(savepoint);
            tx.append(event("k", "second"));
        });
        await().atMost(PATIENCE).until(() -> relay.publishedOnCommitCount() == 2);
        assertThat(sent).containsExactly("k:first", "k:second");
    }

    @Test
    void thousandsInOneTransactionAreOneHandOver() {
        AtomicInteger handOvers = new AtomicInteger();
        outbox.bell().onRing(new Bell.Hearer() {
            @Override
            public void rung() {
                throw new IllegalStateException("Rung without a hand-over");
            }

            @Override
            public void handedOver(List<Bell.Handed> events) {
                assertThat(events).hasSize(5_000);
                handOvers.incrementAndGet();
            }
        });
        Relay relay = started(from(recording).publishesOnCommit(outbox.bell()));
        List<OutboxEvent> events = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            events.add(event("k" + i % 50, "T" + i));
        }
        outbox.transact(tx -> tx.append(events));
        await().atMost(PATIENCE).until(() -> relay.publishedCount() == 5_000);
        assertThat(relay.publishedOnCommitCount()).isEqualTo(5_000);
        assertThat(handOvers).hasValue(1);
    }

    @Test
    void itNeedsNoShardsWhenTheRelayIsElsewhere() {
        Relay elsewhere =
                started(from(recording).idlePoll(Duration.ofMinutes(1)).name("elsewhere"));
        Relay here =
                started(from(recording).publishesOnlyOnCommit(outbox.bell()).name("here"));
        outbox.transact(tx -> tx.append(event("k", "first")));
        await().atMost(PATIENCE).until(() -> here.publishedOnCommitCount() == 1);
        assertThat(database.number("SELECT count(DISTINCT owner) FROM outbox_shard WHERE shard < 255"))
                .isEqualTo(1);
        assertThat(database.column("SELECT settled_by FROM outbox_history")).containsExactly("here");
        assertThat(elsewhere.publishedCount()).isZero();
    }

    @Test
    void aFailureIsLeftToTheRelayWhichCountsItAndKeepsTheOrder() {
        AtomicInteger tries = new AtomicInteger();
        Publisher failing = event -> event.type().equals("bad") && tries.incrementAndGet() <= 2
                ? CompletableFuture.failedFuture(new RetryableFailureException("BUSY", "busy", null))
                : recording.publish(event);
        Relay relay = started(from(failing).publishesOnCommit(outbox.bell()));
        outbox.transact(tx -> {
            tx.append(event("k", "good"));
            tx.append(event("k", "bad"));
            tx.append(event("k", "behind"));
            tx.append(event("other", "free"));
        });
        await().atMost(PATIENCE).until(() -> relay.publishedCount() == 4);
        assertThat(sent.stream().filter(each -> each.startsWith("k:"))).containsExactly("k:good", "k:bad", "k:behind");
        assertThat(tries).hasValue(3);
        assertThat(database.number("SELECT attempt_count FROM outbox_history WHERE event_type = 'bad'"))
                .isEqualTo(1);
    }

    @Test
    void whileTheDestinationIsDownEventsAreLeftToTheRelayAndAfterwardsSentAtTheirCommitAgain() {
        AtomicInteger down = new AtomicInteger(1);
        Publisher flaky = event -> down.get() > 0
                ? CompletableFuture.failedFuture(new DestinationDownException("DOWN", "down", null))
                : recording.publish(event);
        Relay relay = started(from(flaky).publishesOnCommit(outbox.bell()));
        outbox.transact(tx -> tx.append(event("k", "first")));
        await().atMost(PATIENCE)
                .until(() -> database.column("SELECT coalesce(locked_by::text, 'free') FROM outbox_event")
                        .equals(List.of("free")));
        outbox.transact(tx -> tx.append(event("j", "second")));
        assertThat(database.number("SELECT count(*) FROM outbox_event WHERE locked_by IS NOT NULL"))
                .isZero();
        down.set(0);
        await().atMost(PATIENCE).until(() -> relay.publishedCount() == 2);
        assertThat(relay.publishedOnCommitCount()).isZero();
        outbox.transact(tx -> tx.append(event("k", "third")));
        await().atMost(PATIENCE).until(() -> relay.publishedOnCommitCount() == 1);
        assertThat(database.number("SELECT count(*) FROM outbox_attempt")).isZero();
    }

    @Test
    void withoutALoopThatTriesTheDestinationAnEventInAWhileDoes() {
        AtomicInteger down = new AtomicInteger(1);
        Publisher flaky = event -> down.get() > 0
                ? CompletableFuture.failedFuture(new DestinationDownException("DOWN", "down", null))
                : recording.publish(event);
        Relay here = started(from(flaky).publishesOnlyOnCommit(outbox.bell()).name("here"));
        started(from(recording).name("elsewhere"));
        outbox.transact(tx -> tx.append(event("k", "first")));
        await().atMost(PATIENCE).until(() -> sent.size() == 1);
        down.set(0);
        await().atMost(PATIENCE).until(() -> {
            outbox.transact(tx -> tx.append(event("k", "next")));
            return here.publishedOnCommitCount() > 0;
        });
    }

    @Test
    void closingGivesBackWhatIsLeased() throws Exception {
        CompletableFuture<Void> never = new CompletableFuture<>();
        CountDownLatch sending = new CountDownLatch(1);
        Publisher stuck = event -> {
            sending.countDown();
            return never;
        };
        Relay relay = started(from(stuck).publishesOnCommit(outbox.bell()).stopTime(Duration.ofMillis(300)));
        outbox.transact(tx -> tx.append(event("k", "first")));
        sending.await();
        outbox.transact(tx -> tx.append(event("k", "second")));
        relay.close();
        assertThat(database.column("SELECT status FROM outbox_event ORDER BY id"))
                .containsExactly("PENDING", "PENDING");
        outbox.transact(tx -> tx.append(event("j", "plain")));
        assertThat(database.number("SELECT count(*) FROM outbox_event WHERE locked_by IS NOT NULL"))
                .isZero();
    }

    @Test
    void whatTheWriterDidNotHandOverIsDeliveredWhenItsLeaseHasRunOut() throws Exception {
        Relay relay = started(from(recording).publishesOnCommit(outbox.bell()));
        try (var connection = database.connect()) {
            connection.setAutoCommit(false);
            outbox.join(connection).append(event("k", "forgotten"));
            connection.commit();
        }
        outbox.transact(tx -> tx.append(event("j", "other")));
        await().atMost(PATIENCE).until(() -> relay.publishedCount() == 1);
        assertThat(sent).containsExactly("j:other");
        database.execute("UPDATE outbox_event SET due_at = clock_timestamp()");
        await().atMost(PATIENCE).until(() -> relay.publishedCount() == 2);
        assertThat(sent).containsExactly("j:other", "k:forgotten");
        assertThat(relay.publishedOnCommitCount()).isEqualTo(1);
    }

    @Test
    void aPausedRelayLeasesNothing() {
        Relay relay = started(from(recording).publishesOnCommit(outbox.bell()));
        relay.pause();
        outbox.transact(tx -> tx.append(event("k", "first")));
        assertThat(database.number("SELECT count(*) FROM outbox_event WHERE locked_by IS NOT NULL"))
                .isZero();
        relay.resume();
        await().atMost(PATIENCE).until(() -> relay.publishedCount() == 1);
        outbox.transact(tx -> tx.append(event("k", "second")));
        await().atMost(PATIENCE).until(() -> relay.publishedOnCommitCount() == 1);
    }

    private RelaySettings.Builder from(Publisher publisher) {
        return Relay.from(OrderedFeed.of(database.dataSource())).to(publisher);
    }

    private Relay started(RelaySettings.Builder settings) {
        Relay relay = settings.build();
        relays.add(relay);
        relay.start();
        return relay;
    }

    private static OutboxEvent event(String key, String type) {
        return OutboxEvent.of("s", type).key(key).json("{}").build();
    }
}
