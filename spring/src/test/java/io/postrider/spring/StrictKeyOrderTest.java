// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

class StrictKeyOrderTest {
    private static TestApplication app;
    private static Outbox outbox;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {}

    /** As many as are needed: the common pool has one thread on two processors, also for those that wait for others. */
    private static final Executor THREADS = task -> new Thread(task).start();

    @BeforeAll
    static void start() {
        app = TestApplication.run(
                App.class,
                TestApplication.WITHOUT_JPA,
                TestApplication.WITHOUT_RELAY,
                "postrider.strict-key-order=true");
        outbox = app.bean(Outbox.class);
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    @BeforeEach
    void clear() {
        app.jdbc().execute("DELETE FROM outbox_event");
    }

    private static OutboxEvent event(String type, String key) {
        return OutboxEvent.of("order-events", type).key(key).build();
    }

    @Test
    void who_appends_to_the_same_key_waits_for_the_commit_and_others_do_not() {
        CompletableFuture<Void> second = new CompletableFuture<>();
        CompletableFuture<Boolean> seen = new CompletableFuture<>();
        app.transaction().executeWithoutResult(tx -> {
            outbox.append(event("First", "a"));
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void beforeCompletion() {
                    // The first has its locks and its rows now, and is not committed.
                    CompletableFuture.runAsync(
                                    () -> app.transaction()
                                            .executeWithoutResult(inner -> outbox.append(event("Elsewhere", "b"))),
                                    THREADS)
                            .join();
                    var unused = CompletableFuture.runAsync(
                                    () -> app.transaction()
                                            .executeWithoutResult(inner -> outbox.append(event("Second", "a"))),
                                    THREADS)
                            .whenComplete((done, failure) -> second.complete(null));
                    // What is thrown here is swallowed, so it is looked at behind the transaction.
                    seen.completeAsync(
                            () -> {
                                await().untilAsserted(
                                                () -> assertThat(waiting()).isEqualTo(1));
                                return second.isDone();
                            },
                            THREADS);
                    seen.handle((done, failure) -> done).join();
                }
            });
        });
        assertThat(seen)
                .as("the second was done before the first had committed")
                .isCompletedWithValue(false);
        await().untilAsserted(() -> assertThat(second).isDone());
        assertThat(app.stored()).containsExactly("First", "Elsewhere", "Second");
    }

    private static int waiting() {
        return CompletableFuture.supplyAsync(
                        () -> app.jdbc()
                                .queryForObject(
                                        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted",
                                        Integer.class),
                        THREADS)
                .join();
    }

    @Test
    void a_thousand_keys_are_locked_and_one_more_is_refused() {
        app.transaction().executeWithoutResult(tx -> {
            IntStream.range(0, 1000).forEach(i -> outbox.append(event("Many", "key-" + i)));
            outbox.append(event("Many", "key-0"));
            outbox.append(OutboxEvent.of("order-events", "Unkeyed").build());
        });
        assertThat(app.stored()).hasSize(1002);
        assertThatThrownBy(() -> app.transaction()
                        .executeWithoutResult(tx ->
                                IntStream.range(0, 1001).forEach(i -> outbox.append(event("TooMany", "key-" + i)))))
                .isInstanceOf(OutboxException.class)
                .hasMessage(
                        "The transaction appends events of 1001 keys, and strict-key-order locks at most 1000 at once."
                                + " Split the transaction, or turn postrider.strict-key-order off.");
        assertThat(app.stored()).hasSize(1002);
    }
}
