// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The event as one JSON document, for consumers that read values and no headers. */
final class Envelope extends MessageFormat {
    private static final String VERSION = "1.0.0";

    @Override
    byte @Nullable [] value(OutboxEvent event) {
        byte[] payload = event.payload();
        if (payload == null) {
            return null;
        }
        StringBuilder head = new StringBuilder(256).append("{\"eventId\":");
        Json.quote(event.id().toString(), head);
        Json.quote(event.type(), head.append(",\"eventType\":"));
        quoteOrNull(event.aggregateId(), head.append(",\"aggregateId\":"));
        quoteOrNull(event.aggregateType(), head.append(",\"aggregateType\":"));
        Json.quote(event.occurredAt().toString(), head.append(",\"occurredAt\":"));
        Json.quote(VERSION, head.append(",\"version\":"));
        if (EmbeddedPayload.isJson(event, payload)) {
            return EmbeddedPayload.json(head.append(",\"payload\":"), payload);
        }
        head.append(",\"payloadEncoding\":\"base64\",\"payloadContentType\":");
        quoteOrNull(event.contentType(), head);
        return EmbeddedPayload.base64(head.append(",\"payload\":"), payload);
    }

    @Override
    Optional<String> contentType(OutboxEvent event) {
        return event.payload() == null ? Optional.empty() : Optional.of("application/json");
    }

    private static void quoteOrNull(Optional<String> value, StringBuilder out) {
        value.ifPresentOrElse(text -> Json.quote(text, out), () -> out.append("null"));
    }

    @Override
    public String toString() {
        return "envelope";
    }
}
