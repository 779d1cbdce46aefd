// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.handler.Handled;
import io.postrider.handler.Handlers;
import io.postrider.relay.DestinationDownException;
import io.postrider.relay.Relay;
import io.postrider.relay.RelaySettings;
import io.postrider.relay.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Handlers as the destination of a relay, on the real tables. */
class HandlersTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private final JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());

    @BeforeEach
    void clear() {
        database.clear();
    }

    @Test
    void eventsOfAKeyAreHandledOneAfterTheOtherAndThoseOfOthersAtOnce() {
        Map<String, List<Integer>> seen = new ConcurrentHashMap<>();
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch eight = new CountDownLatch(8);
        Handlers handlers = Handlers.builder()
                .concurrency(8)
                .on("s", "T")
                .handle((event, context) -> {
                    most.accumulateAndGet(running.incrementAndGet(), Math::max);
                    eight.countDown();
                    eight.await();
                    seen.computeIfAbsent(
                                    event.key().orElseThrow(), key -> Collections.synchronizedList(new ArrayList<>()))
                            .add(Integer.parseInt(event.headers().getOrDefault("n", "")));
                    running.decrementAndGet();
                    return Handled.done();
                })
                .build();
        for (int i = 0; i < 400; i++) {
            append("T", "k" + i % 20, "n", "" + i);
        }
        try (Relay relay = started(handlers)) {
            await().until(() -> relay.publishedCount() == 400);
        }
        assertThat(seen).hasSize(20);
        assertThat(seen.values())
                .allSatisfy(numbers -> assertThat(numbers).hasSize(20).isSorted());
        assertThat(most).hasValue(8);
        assertThat(database.number("SELECT count(*) FROM outbox_history WHERE outcome = 'PUBLISHED'"))
                .isEqualTo(400);
    }

    @Test
    void whatBecomesOfAnEventIsWhatItsHandlerSays() {
        CountDownLatch never = new CountDownLatch(1);
        Handlers handlers = Handlers.builder()
                .on("s", "Retry")
                .handle((event, context) -> context.attempt() < 3 ? Handled.retry("BUSY", "not now") : Handled.done())
                .on("s", "Later")
                .handle((event, context) -> Handled.retryAfter(Duration.ofHours(1), "LIMIT", "later"))
                .on("s", "Bad")
                .handle((event, context) -> Handled.failed("NO_SUCH_ACCOUNT", "42"))
                .on("s", "Cut")
                .handle((event, context) -> Handled.unknown("CUT", "no reply"))
                .on("s", "Slow")
                .within(Duration.ofMillis(50))
                .timeoutIsUnknown()
                .run(event -> never.await())
                .build();
        List.of("Retry", "Later", "Bad", "Cut", "Slow", "Other").forEach(type -> append(type, type, "n", "1"));
        try (Relay relay = started(handlers)) {
            await().until(() -> relay.publishedCount() == 1
                    && database.number("SELECT count(*) FROM outbox_event WHERE status <> 'PENDING'") == 5);
            assertThat(database.column(
                            "SELECT concat_ws(',', event_type, status, holds, attempt_count, last_error_code)"
                                    + " FROM outbox_event ORDER BY id"))
                    .containsExactly(
                            "Later,WAITING,t,1,LIMIT",
                            "Bad,DEAD,t,1,NO_SUCH_ACCOUNT",
                            "Cut,UNKNOWN,t,1,CUT",
                            "Slow,UNKNOWN,t,1,TIMEOUT",
                            "Other,DEAD,t,1,NO_HANDLER");
            assertThat(database.number("SELECT count(*) FROM outbox_event WHERE event_type = 'Later'"
                            + " AND due_at > clock_timestamp() + interval '59 minutes'"))
                    .isEqualTo(1);
        }
        assertThat(database.number("SELECT attempt_count FROM outbox_history")).isEqualTo(2);
    }

    @Test
    void failuresOfHandlersAreNoOutageButOneMaySayThatItIs() {
        AtomicBoolean down = new AtomicBoolean(true);
        Handlers handlers = Handlers.builder()
                .on("s", "Bad")
                .handle((event, context) -> Handled.failed("BAD", "no"))
                .on("other", "Pay")
                .run(event -> {
                    if (down.get()) {
                        throw new DestinationDownException("CLOSED", "the bank is closed", null);
                    }
                })
                .build();
        for (int i = 0; i < 25; i++) {
            append("Bad", "k" + i, "n", "" + i);
        }
        outbox.transact(tx -> tx.append(OutboxEvent.of("other", "Pay").key("k").build()));
        try (Relay relay = started(handlers)) {
            await().until(() -> database.number("SELECT count(*) FROM outbox_event WHERE status = 'DEAD'") == 25);
            await().until(() ->
                    database.column("SELECT closed::text FROM outbox_relay").contains("{other}"));
            down.set(false);
            await().until(() -> relay.publishedCount() == 1);
        }
        assertThat(database.number("SELECT attempt_count FROM outbox_history")).isZero();
    }

    @Test
    void whatIsCommittedHereIsHandledAtOnce() {
        database.leaveAShardToOthers();
        Handlers handlers = Handlers.builder()
                .on("s", "T")
                .run(event -> {})
                .on("s", "Cut")
                .handle((event, context) -> Handled.unknown("CUT", "no reply"))
                .build();
        RelaySettings.Builder settings =
                Relay.from(OrderedFeed.of(database.dataSource())).to(handlers).publishesOnCommit(outbox.bell());
        try (Relay relay = settings.build()) {
            relay.start();
            await().until(() -> {
                append("T", "k", "n", "1");
                return relay.publishedOnCommitCount() > 0;
            });
            append("Cut", "l", "n", "1");
            await().until(() -> database.number("SELECT count(*) FROM outbox_event WHERE status = 'UNKNOWN'") == 1);
            assertThat(database.number("SELECT attempt_count FROM outbox_event WHERE status = 'UNKNOWN'"))
                    .as("not sent once more by the owner of its shard")
                    .isEqualTo(1);
        }
    }

    @Test
    void whatAnInterruptedHandlerMayHaveDoneIsKnownToBeUnknownAfterAStop() throws InterruptedException {
        CountDownLatch began = new CountDownLatch(2);
        CountDownLatch never = new CountDownLatch(1);
        Handlers handlers = Handlers.builder()
                .timeout(Duration.ofMinutes(1))
                .on("s", "Charge")
                .timeoutIsUnknown()
                .run(event -> {
                    began.countDown();
                    never.await();
                })
                .on("s", "Plain")
                .run(event -> {
                    began.countDown();
                    never.await();
                })
                .build();
        append("Charge", "k", "n", "1");
        append("Plain", "l", "n", "1");
        RelaySettings.Builder settings =
                Relay.from(OrderedFeed.of(database.dataSource())).to(handlers).stopTime(Duration.ofSeconds(8));
        try (Relay relay = settings.build()) {
            relay.start();
            began.await();
        }
        assertThat(database.column("SELECT concat_ws(',', event_type, status, attempt_count, last_error_code)"
                        + " FROM outbox_event ORDER BY id"))
                .containsExactly("Charge,UNKNOWN,1,STOPPED", "Plain,PENDING,0");
    }

    private Relay started(Handlers handlers) {
        Relay relay = Relay.from(OrderedFeed.of(database.dataSource()))
                .to(handlers)
                .retry(RetryPolicy.delays(Duration.ofMillis(10)).attempts(5))
                .wokenBy(outbox.bell())
                .build();
        relay.start();
        return relay;
    }

    private void append(String type, String key, String header, String value) {
        outbox.transact(tx -> tx.append(
                OutboxEvent.of("s", type).key(key).header(header, value).build()));
    }
}
