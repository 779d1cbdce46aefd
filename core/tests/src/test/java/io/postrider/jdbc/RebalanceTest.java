// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.Window;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Real relays that come, go and lose their connections while events flow. */
class RebalanceTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final int KEYS = 50;
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    private final ScheduledExecutorService destination = new ScheduledThreadPoolExecutor(1);
    private final List<Arrival> arrivals = new ArrayList<>();
    private final JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());
    private final AtomicInteger appended = new AtomicInteger();
    private final AtomicInteger unanswered = new AtomicInteger();

    private record Arrival(String key, int number) {}

    @BeforeEach
    void clear() {
        database.clear();
    }

    @AfterEach
    void stop() {
        destination.shutdownNow();
    }

    @Test
    void whileRelaysComeAndGoEveryEventArrivesOnceAndInOrder() {
        Relay first = start("first");
        appendMany(300);
        Relay second = start("second");
        appendMany(300);
        Relay third = start("third");
        for (int i = 0; i < 10; i++) {
            appendMany(60);
        }
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(shares()).containsExactly(85L, 85L, 86L));
        appendMany(300);
        first.close();
        appendMany(300);
        second.close();
        appendMany(300);
        await().atMost(PATIENCE).until(() -> arrived() >= appended.get());
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(shares()).containsExactly(256L));
        third.close();
        assertEachOnceAndInOrder();
        assertNothingIsLeft();
        assertThat(database.number("SELECT max(unclean) FROM outbox_shard")).isZero();
    }

    @Test
    void closingUnderLoadCausesNoDuplicateAndLeavesNothingInFlight() throws Exception {
        appendMany(1000);
        Relay first = start("first");
        await().atMost(PATIENCE).until(() -> arrived() > 100);
        AtomicBoolean closed = new AtomicBoolean();
        Background<Boolean> load = Background.start(() -> appendAheadUntil(closed));
        first.close();
        int arrivedAtFirst = arrived();
        closed.set(true);
        assertThat(load.succeeds()).isTrue();
        assertThat(first.inFlight()).isZero();
        assertThat(unanswered.get()).isZero();
        assertThat(arrivedAtFirst).isLessThan(appended.get());
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isEqualTo(appended.get() - arrivedAtFirst);
        Relay second = start("second");
        await().atMost(PATIENCE).until(() -> arrived() >= appended.get());
        second.close();
        assertEachOnceAndInOrder();
        assertNothingIsLeft();
    }

    @Test
    void aRelayWhoseSessionsAreKilledLosesNothingAndBurnsNoAttempt() {
        Relay relay = start("relay");
        for (int i = 0; i < 6; i++) {
            int before = arrived();
            appendMany(150);
            await().atMost(PATIENCE).until(() -> arrived() > before);
            database.endSessions();
        }
        await().atMost(PATIENCE).until(() -> arrived() >= appended.get());
        await().atMost(PATIENCE).until(() -> database.number("SELECT count(*) FROM outbox_event") == 0);
        relay.close();
        assertEachOnceAndInOrder();
        assertNothingIsLeft();
        assertThat(database.number("SELECT max(attempt_count) FROM outbox_history"))
                .isZero();
    }

    private Relay start(String name) {
        Relay relay = Relay.from(OrderedFeed.builder(database.dataSource())
                        .lease(Duration.ofSeconds(60))
                        .build())
                .to(slowly())
                .name(name)
                .window(new Window(200, 1 << 20))
                .idlePoll(Duration.ofMillis(50))
                .wokenBy(outbox.bell())
                .build();
        relay.start();
        return relay;
    }

    /** Answers each event after up to 10 ms. */
    private Publisher slowly() {
        return event -> {
            CompletableFuture<Void> answer = new CompletableFuture<>();
            unanswered.incrementAndGet();
            var unused = destination.schedule(
                    () -> {
                        arrive(event);
                        unanswered.decrementAndGet();
                        answer.complete(null);
                    },
                    ThreadLocalRandom.current().nextInt(10_000),
                    TimeUnit.MICROSECONDS);
            CompletionStage<Void> stage = answer;
            return stage;
        };
    }

    private void arrive(OutboxEvent event) {
        synchronized (arrivals) {
            arrivals.add(new Arrival(event.key().orElseThrow(), Integer.parseInt(new String(event.payload(), UTF_8))));
        }
    }

    private int arrived() {
        synchronized (arrivals) {
            return arrivals.size();
        }
    }

    /** However long it takes to close a relay, there is always more to send. */
    private boolean appendAheadUntil(AtomicBoolean end) {
        do {
            if (appended.get() - arrived() < 1000) {
                appendMany(200);
            }
            LockSupport.parkNanos(1_000_000);
        } while (!end.get());
        return true;
    }

    private void appendMany(int count) {
        outbox.transact(tx -> {
            List<OutboxEvent> events = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int number = appended.getAndIncrement();
                events.add(OutboxEvent.of("s", "T")
                        .key("k" + number % KEYS)
                        .text("" + number)
                        .build());
            }
            tx.append(events);
        });
    }

    private static List<Long> shares() {
        return database.column("SELECT count(*) FROM outbox_shard WHERE owner IS NOT NULL GROUP BY owner").stream()
                .map(Long::valueOf)
                .sorted()
                .toList();
    }

    private void assertEachOnceAndInOrder() {
        Map<String, Integer> last = new HashMap<>();
        synchronized (arrivals) {
            assertThat(arrivals).doesNotHaveDuplicates().hasSize(appended.get());
            for (Arrival arrival : arrivals) {
                Integer before = last.put(arrival.key(), arrival.number());
                assertThat(before == null ? arrival.number() % KEYS : before + KEYS)
                        .as("key %s", arrival.key())
                        .isEqualTo(arrival.number());
            }
        }
    }

    private void assertNothingIsLeft() {
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
        assertThat(database.number("SELECT count(*) FROM outbox_relay")).isZero();
        assertThat(database.number("SELECT count(*) FROM outbox_attempt")).isZero();
        assertThat(database.number("SELECT count(*) FROM outbox_history")).isEqualTo(appended.get());
    }
}
