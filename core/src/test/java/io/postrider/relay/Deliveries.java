// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;

/** Deliveries for tests; an empty key means none. */
final class Deliveries {
    static final Claim ALWAYS = nanos -> true;

    private Deliveries() {}

    static Delivery of(long id, String stream, String key) {
        return of(id, 0, event(stream, key).build());
    }

    static Delivery of(long id, int attempts, OutboxEvent event) {
        return new Delivery(id, 0, attempts, event, ALWAYS);
    }

    static OutboxEvent.Builder event(String stream, String key) {
        OutboxEvent.Builder event = OutboxEvent.of(stream, "T");
        return key.isEmpty() ? event : event.key(key);
    }
}
