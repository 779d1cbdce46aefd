// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.relay.DrainResult;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Relays that take shards over whose last owners have all ended without a release. */
class QuarantineTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final int EVENTS = 40;

    private final OneByOne publisher = new OneByOne();
    private final List<String> dead = new CopyOnWriteArrayList<>();

    @BeforeEach
    void leaveUncleanShards() {
        database.clear();
        IntStream.range(0, EVENTS).forEach(i -> database.event("s", "key-" + i % 15));
        database.execute("INSERT INTO outbox_shard (relay_group, shard, owner, epoch, unclean, newest)"
                + " SELECT 'default', n, -1, 1, 2, (SELECT max(id) FROM outbox_event) FROM generate_series(0, 255) n");
    }

    @Test
    void aDrainSendsThemTogetherAndLeavesNothing() {
        publisher.answersAfter = 15;
        assertThat(relay(1).drain(1_000)).isEqualTo(new DrainResult(EVENTS, 0, 0, true));
        assertThat(publisher.most).as("one of each key").hasValue(15);
        assertThat(uncleanShards()).isZero();
    }

    @Test
    void whatTwoRelaysEndedWithIsSentAlone() {
        database.execute("UPDATE outbox_event SET unclean_count = 2");
        // Longer than a loop waits before it looks again.
        publisher.answersIn = 25;
        assertThat(relay(1).drain(1_000)).isEqualTo(new DrainResult(EVENTS, 0, 0, true));
        assertThat(publisher.most).hasValue(1);
        assertThat(uncleanShards()).isZero();
    }

    @Test
    void onlyOneLoopOfARelaySendsThemAtATime() {
        int mostOfALoop = (int) database.number("SELECT max(keys) FROM (SELECT count(DISTINCT event_key) AS keys"
                + " FROM outbox_event GROUP BY shard % 3) AS loops");
        try (Relay relay = relay(3)) {
            relay.start();
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> database.number("SELECT count(*) FROM outbox_event") == 0);
            assertThat(publisher.most.get()).isLessThanOrEqualTo(mostOfALoop);
            await().atMost(Duration.ofSeconds(60)).until(() -> uncleanShards() == 0);
        }
    }

    @Test
    void listenersAreToldOfAnEventThatIsNotSentAnyMore() {
        database.execute("UPDATE outbox_event SET unclean_count = 5 WHERE event_key = 'key-3' AND id ="
                + " (SELECT min(id) FROM outbox_event WHERE event_key = 'key-3')");
        int ofItsKey = (int) database.number("SELECT count(*) FROM outbox_event WHERE event_key = 'key-3'");
        assertThat(relay(1).drain(1_000)).isEqualTo(new DrainResult(EVENTS - ofItsKey, 0, 1, true));
        assertThat(dead).containsExactly("key-3 1 KILLED_RELAY");
        assertThat(uncleanShards()).isZero();
    }

    @Test
    void shardsThatWereLeftLessOftenAreCalmWhenTheyAreEmpty() {
        database.execute("UPDATE outbox_shard SET unclean = 0");
        publisher.answersAfter = 15;
        try (Relay relay = relay(2)) {
            relay.start();
            await().atMost(Duration.ofSeconds(60)).until(() -> uncleanShards() == 0);
            assertThat(database.number("SELECT count(*) FROM outbox_event"))
                    .as("not before")
                    .isZero();
        }
        assertThat(publisher.most).as("one of each key").hasValue(15);
    }

    @Test
    void whatIsInShardsThatWereReleasedInOrderGoesAtOnce() {
        database.execute("UPDATE outbox_shard SET owner = NULL, unclean = 0");
        publisher.answersAfter = 15;
        assertThat(relay(1).drain(1_000).published()).isEqualTo(EVENTS);
        assertThat(publisher.most).as("one of each key").hasValue(15);
    }

    private static long uncleanShards() {
        return database.number("SELECT count(*) FROM outbox_shard WHERE unclean > 0 OR suspects IS NOT NULL");
    }

    private Relay relay(int loops) {
        return Relay.from(OrderedFeed.of(database.dataSource()))
                .to(publisher)
                .loops(loops)
                .listener(new RelayListener() {
                    @Override
                    public void dead(OutboxEvent event, int failed, String code, String message) {
                        dead.add(event.key().orElse("") + " " + failed + " " + code);
                    }
                })
                .build();
    }

    /** Answers a little later, or when so many are under way, and knows how many were at once. */
    private static final class OneByOne implements Publisher {
        final AtomicInteger most = new AtomicInteger();
        private final AtomicInteger underWay = new AtomicInteger();
        private final CompletableFuture<Boolean> enough = new CompletableFuture<>();
        volatile int answersAfter;
        volatile int answersIn = 2;

        @Override
        public CompletionStage<?> publish(OutboxEvent event) {
            int now = underWay.incrementAndGet();
            most.accumulateAndGet(now, Math::max);
            if (now >= answersAfter) {
                enough.complete(true);
            }
            // Should fewer come, the test fails and does not hang.
            return enough.copy()
                    .completeOnTimeout(false, 20, TimeUnit.SECONDS)
                    .thenRunAsync(
                            underWay::decrementAndGet,
                            CompletableFuture.delayedExecutor(answersIn, TimeUnit.MILLISECONDS));
        }
    }
}
