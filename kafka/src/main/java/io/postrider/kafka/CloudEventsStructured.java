// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The whole CloudEvent as one JSON document. A tombstone can have none, and is a CloudEvent in binary mode. */
final class CloudEventsStructured extends MessageFormat {
    /** What JSON readers would take a missing type for is JSON, which it is not. */
    private static final String UNKNOWN = "application/octet-stream";

    private final CloudEventAttributes attributes;

    CloudEventsStructured(CloudEventAttributes attributes) {
        this.attributes = attributes;
    }

    @Override
    byte @Nullable [] value(OutboxEvent event) {
        byte[] payload = event.payload();
        if (payload == null) {
            return null;
        }
        StringBuilder head = new StringBuilder(256).append('{');
        attributes.of(event).forEach((name, value) -> {
            head.append('"').append(name).append("\":");
            Json.quote(value, head);
            head.append(',');
        });
        Json.quote(event.contentType().orElse(UNKNOWN), head.append("\"datacontenttype\":"));
        return EmbeddedPayload.isJson(event, payload)
                ? EmbeddedPayload.json(head.append(",\"data\":"), payload)
                : EmbeddedPayload.base64(head.append(",\"data_base64\":"), payload);
    }

    @Override
    Optional<String> contentType(OutboxEvent event) {
        return event.payload() == null ? Optional.empty() : Optional.of("application/cloudevents+json");
    }

    @Override
    Map<String, String> headers(OutboxEvent event) {
        return event.payload() == null ? attributes.headers(event) : Map.of();
    }

    @Override
    boolean replaces(String header) {
        return CloudEventAttributes.isTaken(header);
    }

    @Override
    public String toString() {
        return "structured CloudEvents of " + attributes;
    }
}
