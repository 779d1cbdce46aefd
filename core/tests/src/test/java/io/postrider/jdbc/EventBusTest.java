// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.postrider.Envelope;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.handler.EventBus;
import io.postrider.handler.Handlers;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.Relay;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a domain sees of it all, on the real tables. */
class EventBusTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private final JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());
    private final EventBus bus = EventBus.ofTransactions();

    private record OrderPlaced(String id) {}

    @BeforeEach
    void clear() {
        database.clear();
    }

    @Test
    void whatWasCommittedReachesWhoSubscribedAndWhatWasRolledBackNobody() {
        List<String> seen = new CopyOnWriteArrayList<>();
        bus.maps(
                OrderPlaced.class,
                placed -> Envelope.of("OrderPlaced", "{\"id\":\"" + placed.id() + "\"}")
                        .in("orders")
                        .aggregate("Order", placed.id())
                        .build());
        bus.subscribe("orders", "OrderPlaced").as(Envelope::parse).run(placed -> seen.add(placed.payload()));
        bus.subscribe("orders", "Plain").run(event -> seen.add(event.type()));

        outbox.transact(tx -> {
            bus.in(tx).publish(new OrderPlaced("7"));
            bus.in(tx).publish(OutboxEvent.of("orders", "Plain").key("7").build());
        });
        assertThatThrownBy(() -> outbox.transact(tx -> {
                    bus.in(tx).publish(new OrderPlaced("8"));
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");
        try (Relay relay = Relay.from(OrderedFeed.of(database.dataSource()))
                .to(bus.handlers())
                .build()) {
            relay.start();
            await().until(() -> relay.publishedCount() == 2);
        }
        assertThat(seen).containsExactly("{\"id\":\"7\"}", "Plain");
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
    }

    @Test
    void publishingNeedsATransactionAndAMapping() throws SQLException {
        OutboxEvent event = OutboxEvent.of("orders", "Plain").build();
        assertThatThrownBy(() -> bus.publish(event))
                .isInstanceOf(OutboxException.class)
                .hasMessage("No transaction was given for " + event + ". Call bus.in(transaction).publish(..).");
        try (Connection connection = database.connect()) {
            assertThatThrownBy(() -> bus.in(outbox.on(connection)).publish(event))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageStartingWith("No transaction is open");
        }
        assertThatThrownBy(() -> outbox.transact(tx -> bus.in(tx).publish(new OrderPlaced("7"))))
                .isInstanceOf(OutboxException.class)
                .hasMessage("Class " + OrderPlaced.class.getName()
                        + " is mapped to no event. Say which it is with maps(..), or publish an OutboxEvent.");
        bus.maps(OrderPlaced.class, placed -> event);
        assertThatThrownBy(() -> bus.maps(OrderPlaced.class, placed -> event))
                .hasMessageEndingWith("is mapped to an event twice. Keep one mapping.");
    }

    @Test
    void aBusOfAnOutboxThatKnowsItsTransactionNeedsNoneToBeGiven() throws SQLException {
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            EventBus.of(outbox.on(connection))
                    .publish(OutboxEvent.of("orders", "Plain").build());
            connection.commit();
        }
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isEqualTo(1);
    }

    @Test
    void anEventThatIsNoRowCannotBeSettledInTheTransactionOfItsHandler() {
        List<String> seen = new CopyOnWriteArrayList<>();
        OutboxEvent event = OutboxEvent.of("orders", "Plain").text("x").build();
        try (Handlers handlers = Handlers.builder()
                .on("orders", "Plain")
                .settle(SameTransaction.of(outbox).run(payload -> payload, (payload, tx) -> seen.add("ran")))
                .build()) {
            assertThat(handlers.publish(event).toCompletableFuture())
                    .failsWithin(Duration.ofSeconds(30))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(PermanentFailureException.class)
                    .withMessageContaining("use JdbcInbox.transact(..) in the handler");
        }
        assertThat(seen).isEmpty();
    }
}
