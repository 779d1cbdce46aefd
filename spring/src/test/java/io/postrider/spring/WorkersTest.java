// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.postrider.Envelope;
import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.handler.Context;
import io.postrider.handler.Handled;
import io.postrider.inbox.Inbox;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/** Methods of beans as handlers, and the inbox in Spring's transactions. */
class WorkersTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String[] WORKERS = {
        TestApplication.WITHOUT_JPA,
        TestApplication.WITHOUT_RELAY,
        "postrider.workers.orders.streams=orders,payments",
        "postrider.workers.mails.streams=mails",
        "postrider.workers.mails.mode=competing",
        "postrider.workers.mails.concurrency=4"
    };

    record Placed(String order, List<Integer> amounts) {}

    static class Desk {
        private final JdbcTemplate jdbc;
        private final Inbox inbox;
        private final Outbox outbox;
        private final List<String> seen = new CopyOnWriteArrayList<>();
        private final List<String> threads = new CopyOnWriteArrayList<>();

        Desk(JdbcTemplate jdbc, Inbox inbox, Outbox outbox) {
            this.jdbc = jdbc;
            this.inbox = inbox;
            this.outbox = outbox;
        }

        /** A field would be that of the proxy. */
        List<String> seen() {
            return seen;
        }

        List<String> threads() {
            return threads;
        }

        @HandlesEvent(stream = "orders", type = "Placed")
        @Transactional
        public void book(Placed placed, Context context) {
            inbox.once("booking", context.event().id(), () -> {
                jdbc.update("INSERT INTO booking VALUES (?)", placed.order());
                outbox.append(
                        OutboxEvent.of("mails", "Confirm").text(placed.order()).build());
            });
            if (context.attempt() == 1 && placed.amounts().size() > 1) {
                throw new IllegalStateException("rolls back, and is tried again");
            }
        }

        @HandlesEvent(stream = "mails", type = "Confirm")
        void confirm(OutboxEvent event) {
            threads.add(Thread.currentThread().getName());
            seen.add("mail");
        }

        @HandlesEvent(stream = "payments", type = "Paid")
        Handled paid(Envelope envelope) {
            seen.add(envelope.payload());
            return Handled.failed("NO_ACCOUNT", "never");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        Desk desk(JdbcTemplate jdbc, Inbox inbox, Outbox outbox) {
            return new Desk(jdbc, inbox, outbox);
        }

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }
    }

    @Test
    void where_the_application_has_virtual_threads_handlers_run_on_them() {
        String[] settings = Stream.concat(Stream.of(WORKERS), Stream.of("spring.threads.virtual.enabled=true"))
                .toArray(String[]::new);
        try (TestApplication app = TestApplication.run(App.class, settings)) {
            append(app, OutboxEvent.of("mails", "Confirm").text("a").build());
            Desk desk = app.bean(Desk.class);
            await().atMost(PATIENCE).until(() -> desk.seen().contains("mail"));
            // Java 17 has none, and takes threads of its own pool.
            String name = Runtime.version().feature() >= 21 ? "postrider-mails-" : "postrider-handler-";
            assertThat(desk.threads())
                    .allMatch(thread -> thread.startsWith(name))
                    .isNotEmpty();
        }
    }

    @Test
    void methods_handle_events_in_transactions_of_their_own() {
        try (TestApplication app = TestApplication.run(App.class, WORKERS)) {
            app.jdbc().execute("CREATE TABLE booking (order_id text)");
            append(app, json("{\"order\":\"a\",\"amounts\":[1]}"), json("{\"order\":\"b\",\"amounts\":[1,2]}"));
            append(app, Envelope.of("Paid", "{\"sum\": 3}").in("payments").build());
            append(app, json("no json"));
            Desk desk = app.bean(Desk.class);
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(app.stored()).as("those that are dead").containsExactlyInAnyOrder("Paid", "Placed");
                assertThat(desk.seen()).containsExactlyInAnyOrder("mail", "mail", "{\"sum\": 3}");
            });
            assertThat(app.jdbc().queryForList("SELECT order_id FROM booking ORDER BY 1", String.class))
                    .containsExactly("a", "b");
            assertThat(app.jdbc().queryForList("SELECT last_error_code FROM outbox_event ORDER BY 1", String.class))
                    .containsExactly("NO_ACCOUNT", "UNREADABLE");
            MeterRegistry meters = app.bean(MeterRegistry.class);
            // What is counted is counted after it is settled.
            await().atMost(PATIENCE).ignoreExceptions().untilAsserted(() -> {
                assertThat(meters.get("outbox.handler.duration")
                                .tags("stream", "orders", "eventType", "Placed")
                                .timer()
                                .count())
                        .isEqualTo(4);
                assertThat(meters.get("outbox.processed")
                                .tags("stream", "orders", "result", "done")
                                .counter()
                                .count())
                        .isEqualTo(2);
                assertThat(meters.get("outbox.processed")
                                .tags("stream", "mails", "result", "done")
                                .counter()
                                .count())
                        .isEqualTo(2);
            });
        }
    }

    @Test
    void competing_workers_have_one_place_among_the_relays() {
        try (TestApplication app = TestApplication.run(
                App.class,
                TestApplication.WITHOUT_JPA,
                TestApplication.WITHOUT_RELAY,
                "postrider.workers.orders.streams=orders,payments",
                "postrider.workers.orders.mode=competing",
                "postrider.workers.orders.lease=20s",
                "postrider.workers.mails.streams=mails",
                "postrider.workers.mails.mode=competing")) {
            append(app, Envelope.of("Paid", "{}").in("payments").build());
            append(app, OutboxEvent.of("mails", "Confirm").text("a").build());
            Desk desk = app.bean(Desk.class);
            await().atMost(PATIENCE).until(() -> desk.seen().containsAll(List.of("mail", "{}")));
            assertThat(app.jdbc().queryForList("SELECT relay_group FROM outbox_relay", String.class))
                    .containsExactly("workers");
        }
    }

    @Test
    void the_inbox_belongs_to_the_current_transaction() {
        UUID event = UUID.randomUUID();
        try (TestApplication app = TestApplication.run(App.class, WORKERS)) {
            Inbox inbox = app.bean(Inbox.class);
            List<String> runs = new CopyOnWriteArrayList<>();
            app.transaction().executeWithoutResult(tx -> {
                inbox.once("c", event, () -> runs.add("rolled back"));
                tx.setRollbackOnly();
            });
            app.transaction().executeWithoutResult(tx -> inbox.once("c", event, () -> runs.add("first")));
            app.transaction().executeWithoutResult(tx -> inbox.once("c", event, () -> runs.add("second")));
            assertThat(runs).containsExactly("rolled back", "first");
            app.transaction()
                    .executeWithoutResult(
                            tx -> assertThat(inbox.claim("c", List.of(event))).isEmpty());
            assertThatThrownBy(() -> inbox.once("c", event, () -> {}))
                    .isInstanceOf(OutboxException.class)
                    .hasMessage("No transaction is open, so event " + event
                            + " would count as processed by c even if its work fails. Call it inside @Transactional, or"
                            + " use TransactionTemplate.");
        }
    }

    @Test
    void a_handler_whose_stream_no_worker_has_is_told_at_start() {
        assertThatThrownBy(() -> TestApplication.run(
                        App.class,
                        TestApplication.WITHOUT_JPA,
                        TestApplication.WITHOUT_RELAY,
                        "postrider.workers.orders.streams=orders,payments"))
                .rootCause()
                .hasMessage("There are methods with @HandlesEvent for [mails], and no worker has these streams, so they"
                        + " would never be called.");
    }

    @Test
    void a_stream_of_two_workers_is_told_at_start() {
        assertThatThrownBy(() -> TestApplication.run(
                        App.class,
                        TestApplication.WITHOUT_JPA,
                        TestApplication.WITHOUT_RELAY,
                        "postrider.workers.a.streams=orders,payments,mails",
                        "postrider.workers.b.streams=mails"))
                .rootCause()
                .hasMessage("The workers a and b both have the stream mails.");
    }

    private static OutboxEvent json(String body) {
        return OutboxEvent.of("orders", "Placed").json(body).build();
    }

    private static void append(TestApplication app, OutboxEvent... events) {
        app.transaction().executeWithoutResult(tx -> app.bean(Outbox.class).append(List.of(events)));
    }
}
