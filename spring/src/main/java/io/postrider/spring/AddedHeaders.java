// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import io.postrider.OutboxEvent;
import io.postrider.internal.EventRules;
import java.util.LinkedHashMap;
import java.util.Map;

/** The same event with more headers. */
final class AddedHeaders {
    private AddedHeaders() {}

    /** Adds those that the event has not, as long as there is room: what an event says itself goes before. */
    static OutboxEvent to(OutboxEvent event, Map<String, String> headers) {
        Map<String, String> missing = new LinkedHashMap<>(headers);
        event.headers().keySet().forEach(own -> missing.keySet().removeIf(own::equalsIgnoreCase));
        if (missing.isEmpty() || event.headers().size() + missing.size() > EventRules.MAX_HEADERS) {
            return event;
        }
        OutboxEvent.Builder copy = OutboxEvent.of(event.stream(), event.type())
                .id(event.id())
                .occurredAt(event.occurredAt())
                .headers(event.headers())
                .headers(missing);
        event.aggregateId().ifPresent(id -> copy.aggregate(event.aggregateType().orElse(""), id));
        event.key().ifPresentOrElse(copy::key, copy::unkeyed);
        byte[] payload = event.payload();
        if (payload != null) {
            event.contentType().ifPresentOrElse(type -> copy.payload(payload, type), () -> copy.payload(payload));
        }
        event.notBefore().ifPresent(copy::notBefore);
        event.delay().ifPresent(copy::delay);
        event.maxAttempts().ifPresent(copy::maxAttempts);
        event.expiresAt().ifPresent(copy::expiresAt);
        event.expiresIn().ifPresent(copy::expiresIn);
        event.dedupKey().ifPresent(copy::dedupKey);
        return copy.build();
    }
}
