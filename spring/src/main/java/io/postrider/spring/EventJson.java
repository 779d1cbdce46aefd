// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.lang.reflect.Type;

/** Turns objects into JSON payloads and back, by default with the application's own Jackson mapper. Thread-safe. */
@FunctionalInterface
public interface EventJson extends EventWriter {

    /** The object as JSON in UTF-8. */
    byte[] write(Object body);

    /**
     * Reads what {@link #write} has written, for handlers.
     *
     * @throws Exception if it is not to be read as that
     */
    default Object read(byte[] json, Type type) throws Exception {
        throw new OutboxException(getClass().getName()
                + " only writes. Implement read(..) too, or take an OutboxEvent in" + " the handler.");
    }

    /**
     * Starts an event with the object as its payload, written now: what happens to the object later changes nothing.
     *
     * <pre>{@code
     * outbox.append(json.event("order-events", "OrderPlaced", order).aggregate("Order", order.id()).build());
     * }</pre>
     */
    @Override
    default OutboxEvent.Builder event(String stream, String type, Object body) {
        return OutboxEvent.of(stream, type).payload(write(body), "application/json");
    }
}
