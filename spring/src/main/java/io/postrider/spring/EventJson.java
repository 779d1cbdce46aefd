// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import io.postrider.OutboxEvent;

/** Turns objects into JSON payloads, by default with the application's own Jackson mapper. Thread-safe. */
@FunctionalInterface
public interface EventJson {

    /** The object as JSON in UTF-8. */
    byte[] write(Object body);

    /**
     * Starts an event with the object as its payload, written now: what happens to the object later changes nothing.
     *
     * <pre>{@code
     * outbox.append(json.event("order-events", "OrderPlaced", order).aggregate("Order", order.id()).build());
     * }</pre>
     */
    default OutboxEvent.Builder event(String stream, String type, Object body) {
        return OutboxEvent.of(stream, type).payload(write(body), "application/json");
    }
}
