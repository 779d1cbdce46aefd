// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import io.postrider.OutboxEvent;
import java.util.Objects;
import java.util.function.Function;

/**
 * Says which outbox event an application event becomes; a bean of this type does for classes what {@link OutboxMessage}
 * does on them.
 *
 * <pre>{@code
 * @Bean
 * EventMapping<OrderPlaced> orderPlaced(EventJson json) {
 *     return EventMapping.of(OrderPlaced.class,
 *             event -> json.event("order-events", "OrderPlaced", event).key(event.orderId()).build());
 * }
 * }</pre>
 *
 * @param <T> what is published with Spring's ApplicationEventPublisher
 */
public final class EventMapping<T> {
    private final Class<T> type;
    private final Function<? super T, OutboxEvent> mapping;

    private EventMapping(Class<T> type, Function<? super T, OutboxEvent> mapping) {
        this.type = Objects.requireNonNull(type, "type");
        this.mapping = Objects.requireNonNull(mapping, "mapping");
    }

    /** Maps objects of this class and its subclasses. */
    public static <T> EventMapping<T> of(Class<T> type, Function<? super T, OutboxEvent> mapping) {
        return new EventMapping<>(type, mapping);
    }

    Class<T> type() {
        return type;
    }

    OutboxEvent map(Object event) {
        return mapping.apply(type.cast(event));
    }
}
