// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

class MappedEventsTest {
    private static TestApplication app;

    @OutboxMessage(stream = "order-events", key = "orderId", aggregate = "Order")
    record OrderPlaced(@Nullable String orderId, int total) {}

    @OutboxMessage(stream = "order-events", type = "OrderPaidV2", key = "order.orderId + '/' + order.total")
    record OrderPaid(OrderPlaced order) {}

    @OutboxMessage(stream = "clicks")
    record Clicked(String page) {}

    record Shipped(String orderId) {}

    static class Returned extends ApplicationEvent {
        private static final long serialVersionUID = 1L;

        Returned(Object source) {
            super(source);
        }
    }

    record Unmapped(String text) {}

    @OutboxMessage(stream = "order-events", key = "nothing")
    record Misspelt(String orderId) {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        EventMapping<Shipped> shipped(EventJson json) {
            return EventMapping.of(
                    Shipped.class,
                    shipped -> json.event("shipping", "Shipped", shipped)
                            .key(shipped.orderId())
                            .build());
        }

        @Bean
        EventMapping<Returned> returned() {
            return EventMapping.of(
                    Returned.class,
                    returned -> OutboxEvent.of("shipping", "Returned")
                            .key(returned.getSource().toString())
                            .build());
        }
    }

    @BeforeAll
    static void start() {
        app = TestApplication.run(App.class, TestApplication.WITHOUT_JPA, TestApplication.WITHOUT_RELAY);
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    @BeforeEach
    void clear() {
        app.jdbc().execute("DELETE FROM outbox_event");
    }

    private static void publish(Object... events) {
        app.transaction().executeWithoutResult(tx -> List.of(events).forEach(app.context()::publishEvent));
    }

    private static Map<String, Object> only() {
        return app.jdbc()
                .queryForMap("SELECT stream, event_type, event_key, aggregate_type, content_type,"
                        + " convert_from(payload, 'UTF8') AS body FROM outbox_event");
    }

    @Test
    void an_annotated_event_is_stored_as_json() {
        publish(new OrderPlaced("7", 42));
        assertThat(only())
                .containsEntry("stream", "order-events")
                .containsEntry("event_type", "OrderPlaced")
                .containsEntry("event_key", "7")
                .containsEntry("aggregate_type", "Order")
                .containsEntry("content_type", "application/json")
                .containsEntry("body", "{\"orderId\":\"7\",\"total\":42}");
    }

    @Test
    void the_key_may_be_an_expression() {
        publish(new OrderPaid(new OrderPlaced("7", 42)));
        assertThat(only()).containsEntry("event_type", "OrderPaidV2").containsEntry("event_key", "7/42");
    }

    @Test
    void without_a_key_an_event_has_none() {
        publish(new Clicked("/"));
        assertThat(only()).containsEntry("event_type", "Clicked").containsEntry("event_key", null);
    }

    @Test
    void a_mapping_bean_does_what_the_annotation_does() {
        publish(new Shipped("8"), new Returned("9"), new Unmapped("nobody's"));
        assertThat(app.stored()).containsExactly("Shipped", "Returned");
    }

    @Test
    void a_rollback_takes_the_event_along() {
        app.transaction().executeWithoutResult(tx -> {
            app.context().publishEvent(new OrderPlaced("7", 42));
            tx.setRollbackOnly();
        });
        assertThat(app.stored()).isEmpty();
    }

    @Test
    void outside_a_transaction_publishing_throws() {
        assertThatThrownBy(() -> app.context().publishEvent(new OrderPlaced("7", 42)))
                .isInstanceOf(OutboxException.class)
                .hasMessageStartingWith("No transaction is open, so event OrderPlaced (stream order-events)");
    }

    @Test
    void a_key_that_is_not_there_is_named() {
        assertThatThrownBy(() -> publish(new Misspelt("7")))
                .isInstanceOf(OutboxException.class)
                .hasMessageStartingWith(
                        "The key 'nothing' of application event " + Misspelt.class.getName() + " cannot be read: ");
        assertThatThrownBy(() -> publish(new OrderPlaced(null, 1)))
                .isInstanceOf(OutboxException.class)
                .hasMessage("The key 'orderId' of application event " + OrderPlaced.class.getName() + " is null. Name a"
                        + " property that has a value in @OutboxMessage(key = ..), or leave the key out.");
        assertThat(app.stored()).isEmpty();
    }

    @Test
    void two_mappings_of_one_class_are_refused() {
        EventMapping<Shipped> one =
                EventMapping.of(Shipped.class, e -> OutboxEvent.of("a", "A").build());
        MappedEvents mapped = new MappedEvents(events -> {}, List.of(one, one), () -> null);
        assertThatThrownBy(() -> mapped.onApplicationEvent(new PayloadApplicationEvent<>(this, new Shipped("7"))))
                .hasMessageContaining("has 2 mappings");
    }
}
