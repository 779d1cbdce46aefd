// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RelaySettings;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A whole relay with far more to do than its window holds, so that it reads ahead and settles beside it. */
class BacklogRelayTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final int EVENTS = 60_000;

    /** The newest event of each key that was sent. */
    private final Map<String, Integer> newest = new ConcurrentHashMap<>();

    private final AtomicInteger first = new AtomicInteger();
    private final AtomicInteger again = new AtomicInteger();
    private final AtomicInteger overtaken = new AtomicInteger();
    private final AtomicInteger looks = new AtomicInteger();
    private final AtomicBoolean settlesAside = new AtomicBoolean();
    private final AtomicBoolean readsAhead = new AtomicBoolean();

    @BeforeEach
    void fill() {
        database.clear();
        // The number of an event within its key is in its type.
        database.execute("INSERT INTO outbox_event (stream, event_key, event_type) SELECT 's', 'k' || n % 500,"
                + " (n / 500)::text FROM generate_series(0, " + (EVENTS - 1) + ") n");
    }

    @Test
    void allIsDeliveredOnceAndInOrder() {
        try (Relay relay = start(this::deliver, 1)) {
            await().atMost(Duration.ofSeconds(60)).until(() -> relay.publishedCount() == EVENTS);
        }
        assertThat(again).hasValue(0);
        assertThatAllIsDone();
        assertThat(readsAhead).isTrue();
        assertThat(settlesAside).isTrue();
        assertThat(database.number("SELECT count(*) FROM outbox_history")).isEqualTo(EVENTS);
    }

    @Test
    void allIsDeliveredInOrderThoughItsSessionsAreEndedAgainAndAgain() {
        try (Relay relay = start(this::deliver, 2)) {
            for (int sent = EVENTS / 10; sent < EVENTS; sent += EVENTS / 10) {
                int enough = sent;
                await().atMost(Duration.ofSeconds(60)).until(() -> first.get() >= enough);
                database.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        + " WHERE pid <> pg_backend_pid() AND datname = current_database()");
            }
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> relay.inFlight() == 0 && database.number("SELECT count(*) FROM outbox_event") == 0);
        }
        assertThatAllIsDone();
        assertThat(database.number("SELECT max(attempt_count) FROM outbox_history"))
                .isZero();
    }

    @Test
    void whatFailsNowAndThenIsNotOvertakenByItsKey() {
        AtomicInteger count = new AtomicInteger();
        Publisher failing = event -> count.incrementAndGet() % 9_973 == 0
                ? CompletableFuture.failedFuture(new IllegalStateException("now and then"))
                : deliver(event);
        try (Relay relay = start(failing, 1)) {
            await().atMost(Duration.ofSeconds(90))
                    .until(() -> relay.inFlight() == 0 && database.number("SELECT count(*) FROM outbox_event") == 0);
        }
        assertThat(again).hasValue(0);
        assertThatAllIsDone();
        assertThat(database.number("SELECT count(*) FROM outbox_history WHERE attempt_count > 0"))
                .isPositive();
    }

    private CompletionStage<?> deliver(OutboxEvent event) {
        int number = Integer.parseInt(event.type());
        int before = newest.getOrDefault(event.key().orElseThrow(), -1);
        if (number <= before) {
            again.incrementAndGet();
        } else {
            first.incrementAndGet();
            overtaken.addAndGet(number == before + 1 ? 0 : 1);
            newest.put(event.key().orElseThrow(), number);
        }
        return CompletableFuture.completedFuture(null);
    }

    private void assertThatAllIsDone() {
        assertThat(overtaken).hasValue(0);
        assertThat(first).hasValue(EVENTS);
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
    }

    private Relay start(Publisher publisher, int loops) {
        RelaySettings.Builder builder = Relay.from(OrderedFeed.of(database.dataSource()))
                .to(event -> {
                    if (looks.incrementAndGet() % 2_000 == 0) {
                        Thread.getAllStackTraces().keySet().forEach(this::note);
                    }
                    return publisher.publish(event);
                });
        Relay relay = builder.name("backlog").loops(loops).build();
        relay.start();
        return relay;
    }

    private void note(Thread thread) {
        settlesAside.compareAndSet(false, thread.getName().equals("postrider-backlog-settles"));
        readsAhead.compareAndSet(false, thread.getName().equals("postrider-backlog-reads"));
    }
}
