// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.Envelope;
import io.postrider.OutboxEvent;
import io.postrider.handler.EventBus;
import io.postrider.handler.Handled;
import io.postrider.handler.Handlers;
import io.postrider.handler.Message;
import io.postrider.ops.Actor;
import io.postrider.ops.UnknownEvent;
import io.postrider.ops.Unknowns;
import io.postrider.relay.DestinationDownException;
import io.postrider.relay.Relay;
import io.postrider.relay.RetryPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The snippets of docs/guide/queue.md, which are checked to be the ones that run here. */
class QueueGuideTest {
    private static final Pattern SNIPPET = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final TestDatabase database = TestDatabase.migrated();

    private final DataSource dataSource = database.dataSource();
    private final JdbcOutbox outbox = JdbcOutbox.of(dataSource);
    private final JdbcInbox inbox = JdbcInbox.of(dataSource);
    private final Mails mails = new Mails();
    private final Bank bank = new Bank();
    private final Accounts accounts = new Accounts();

    @BeforeEach
    void clear() {
        database.clear();
        database.execute("DROP TABLE IF EXISTS booking; CREATE TABLE booking (account text)");
    }

    @Test
    void everySnippetOfTheGuideIsCodeThatRunsHere() throws IOException {
        String source = bare(
                Files.readString(root().resolve("core/tests/src/test/java/io/postrider/jdbc/QueueGuideTest.java")));
        List<String> snippets = SNIPPET.matcher(Files.readString(root().resolve("docs/guide/queue.md")))
                .results()
                .map(match -> match.group(1))
                .toList();
        assertThat(snippets).hasSizeGreaterThan(5);
        for (String snippet : snippets) {
            assertThat(source).contains(bare(snippet));
        }
    }

    private record OrderShipped(String order, String carrier) {}

    @Test
    void aBusForTheDomain() {
        EventBus bus = EventBus.ofTransactions()
                .maps(
                        OrderShipped.class,
                        shipped -> Envelope.of("OrderShipped", "{\"order\":\"" + shipped.order() + "\"}")
                                .field("carrier", shipped.carrier())
                                .in("orders")
                                .aggregate("Order", shipped.order())
                                .build());
        bus.subscribe("orders", "OrderShipped").as(Envelope::parse).run(envelope -> mails.sent.add(envelope.payload()));

        outbox.transact(tx -> bus.in(tx).publish(new OrderShipped("7", "post")));
        Relay relay = Relay.from(OrderedFeed.of(dataSource)).to(bus.handlers()).build();
        try (relay) {
            relay.start();
            await().until(() -> relay.publishedCount() == 1);
        }
        assertThat(mails.sent).containsExactly("{\"order\":\"7\"}");
    }

    @Test
    void handlersAsADestination() {
        Handlers handlers = Handlers.builder()
                .on("orders", "OrderPlaced")
                .as(Order::parse)
                .run(mails::confirm)
                .on("orders", "OrderCancelled")
                .as(Order::parse)
                .run(mails::regret)
                .build();
        Relay relay = Relay.from(OrderedFeed.of(dataSource))
                .to(handlers)
                .retry(RetryPolicy.brisk())
                .wokenBy(outbox.bell())
                .build();
        relay.start();
        append("orders", "OrderPlaced", "7");
        await().until(() -> mails.sent.equals(List.of("confirmed 7")));
        relay.close();
    }

    @Test
    void outcomes() {
        Handlers handlers = Handlers.builder()
                .on("payments", "Charge")
                .within(Duration.ofSeconds(10))
                .timeoutIsUnknown()
                .as(Order::parse)
                .handle((order, context) -> switch (bank.charge(
                        order.id(), context.event().id())) {
                    case DONE -> Handled.done();
                    case BUSY -> Handled.retry("BUSY", "the bank asks for patience");
                    case LIMITED -> Handled.retryAfter(Duration.ofMinutes(5), "LIMIT", "five minutes, says the bank");
                    case NO_SUCH_ACCOUNT -> Handled.failed("NO_SUCH_ACCOUNT", "the account does not exist");
                    case NO_ANSWER -> Handled.unknown("NO_ANSWER", "the bank may have booked it");
                    case CLOSED -> throw new DestinationDownException("CLOSED", "the bank is closed", null);
                })
                .build();
        for (Bank.Answer answer : Bank.Answer.values()) {
            append("payments", "Charge", answer.name());
        }
        try (Relay relay = started(handlers)) {
            await().until(() ->
                    database.column("SELECT closed::text FROM outbox_relay").equals(List.of("{payments}"))
                            && relay.publishedCount() == 1);
            await().until(() -> database.column("SELECT status || ' ' || coalesce(last_error_code, 'none')"
                            + " FROM outbox_event ORDER BY id")
                    .containsAll(List.of("DEAD NO_SUCH_ACCOUNT", "UNKNOWN NO_ANSWER", "PENDING none")));
        }
    }

    @Test
    void withAnInbox() {
        Handlers handlers = Handlers.builder()
                .on("orders", "OrderPlaced")
                .handle((event, context) -> {
                    inbox.transact("booking", event.id(), tx -> accounts.book(tx.connection(), event));
                    return Handled.done();
                })
                .build();
        append("orders", "OrderPlaced", "7");
        assertBooked(handlers, 1);
    }

    @Test
    void inTheSameTransaction() {
        SameTransaction once = SameTransaction.of(outbox);
        Handlers handlers = Handlers.builder()
                .on("orders", "OrderPlaced")
                .settle(once.run(Order::parse, (order, tx) -> {
                    accounts.book(tx.connection(), tx.context().event());
                    tx.append(
                            OutboxEvent.of("invoices", "Booked").key(order.id()).build());
                }))
                .on("invoices", "Booked")
                .run(event -> mails.sent.add("invoice"))
                .build();
        append("orders", "OrderPlaced", "7");
        assertBooked(handlers, 1);
        assertThat(mails.sent).containsExactly("invoice");
    }

    @Test
    void manyInOneTransaction() {
        SameTransaction once = SameTransaction.of(outbox);
        Handlers handlers = Handlers.builder()
                .on("orders", "OrderPlaced")
                .settle(once.batches(500, Order::parse, (orders, tx) -> {
                    for (Message<Order> order : orders) {
                        accounts.book(tx.connection(), order.event());
                    }
                }))
                .build();
        for (int i = 0; i < 50; i++) {
            append("orders", "OrderPlaced", "" + i);
        }
        assertBooked(handlers, 50);
    }

    @Test
    void reconciliation() {
        database.event("payments", "known", "status = 'UNKNOWN', last_attempt_at = now() - interval '6 minutes'");
        database.event("payments", "lost", "status = 'UNKNOWN', last_attempt_at = now() - interval '6 minutes'");
        bank.booked.add(UUID.fromString(
                database.column("SELECT event_id FROM outbox_event ORDER BY id").get(0)));
        Unknowns unknowns = Unknowns.of(dataSource);
        for (UnknownEvent charge : unknowns.find("payments", Duration.ofMinutes(5), 0, 100)) {
            if (bank.hasBooked(charge.eventId())) {
                unknowns.done(charge.eventId(), new Actor("reconciliation", "the bank has it"));
            } else {
                unknowns.retry(charge.eventId(), new Actor("reconciliation", "the bank has never seen it"));
            }
        }
        assertThat(database.column("SELECT event_key || ' ' || status FROM outbox_event"))
                .containsExactly("lost PENDING");
    }

    private void assertBooked(Handlers handlers, long bookings) {
        try (Relay relay = started(handlers)) {
            await().until(() -> database.number("SELECT count(*) FROM outbox_event") == 0 && relay.inFlight() == 0);
        }
        assertThat(database.number("SELECT count(*) FROM booking")).isEqualTo(bookings);
    }

    private Relay started(Handlers handlers) {
        Relay relay = Relay.from(OrderedFeed.of(dataSource))
                .to(handlers)
                .wokenBy(outbox.bell())
                .build();
        relay.start();
        return relay;
    }

    private void append(String stream, String type, String id) {
        outbox.transact(
                tx -> tx.append(OutboxEvent.of(stream, type).key(id).json(id).build()));
    }

    private record Order(String id) {
        static Order parse(byte[] payload) {
            return new Order(new String(payload, UTF_8));
        }
    }

    private static final class Mails {
        final List<String> sent = Collections.synchronizedList(new ArrayList<>());

        void confirm(Order order) {
            sent.add("confirmed " + order.id());
        }

        void regret(Order order) {
            sent.add("regretted " + order.id());
        }
    }

    private static final class Bank {
        final Set<UUID> booked = ConcurrentHashMap.newKeySet();

        enum Answer {
            DONE,
            BUSY,
            LIMITED,
            NO_SUCH_ACCOUNT,
            NO_ANSWER,
            CLOSED
        }

        /** Answers what it is asked for; that it is closed, when all its other answers are written. */
        Answer charge(String wish, UUID idempotencyKey) {
            Answer answer = Answer.valueOf(wish);
            if (answer == Answer.DONE) {
                booked.add(idempotencyKey);
            } else if (answer == Answer.CLOSED) {
                await().until(() ->
                        database.number("SELECT count(*) FROM outbox_event WHERE status <> 'PENDING'") == 4);
            }
            return answer;
        }

        boolean hasBooked(UUID idempotencyKey) {
            return booked.contains(idempotencyKey);
        }
    }

    private static final class Accounts {
        void book(Connection connection, OutboxEvent event) throws SQLException {
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO booking VALUES (?)")) {
                insert.setString(1, event.key().orElseThrow());
                insert.executeUpdate();
            }
        }
    }

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        return Files.exists(here.resolve("docs/guide/queue.md")) ? here : here.resolve("../..");
    }

    /** Without its white space, which the formatter may arrange in another way. */
    private static String bare(String text) {
        return text.replaceAll("\\s+", "");
    }
}
