// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The payload as it is, and the attributes of a CloudEvent as headers; {@code content-type} is its datacontenttype. */
final class CloudEventsBinary extends MessageFormat {
    private final CloudEventAttributes attributes;

    CloudEventsBinary(CloudEventAttributes attributes) {
        this.attributes = attributes;
    }

    @Override
    byte @Nullable [] value(OutboxEvent event) {
        return event.payload();
    }

    @Override
    Optional<String> contentType(OutboxEvent event) {
        return event.contentType();
    }

    @Override
    Map<String, String> headers(OutboxEvent event) {
        return attributes.headers(event);
    }

    @Override
    boolean replaces(String header) {
        return CloudEventAttributes.isTaken(header);
    }

    @Override
    public String toString() {
        return "CloudEvents of " + attributes;
    }
}
