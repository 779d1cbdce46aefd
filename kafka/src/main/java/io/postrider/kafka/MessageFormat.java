// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the value of a Kafka record looks like. A tombstone has no value in any format. Immutable. */
public abstract sealed class MessageFormat permits MessageFormat.Raw, Envelope {

    MessageFormat() {}

    /** The stored payload, byte for byte; everything else is in the headers. The default. */
    public static MessageFormat raw() {
        return new Raw();
    }

    /**
     * A JSON document with {@code eventId, eventType, aggregateId, aggregateType, occurredAt, version, payload}. A JSON
     * payload is embedded as it is; any other is a base64 string, marked by {@code "payloadEncoding":"base64"}.
     */
    public static MessageFormat envelope() {
        return new Envelope();
    }

    /** The same bytes for the same event, however often it is called. */
    abstract byte @Nullable [] value(OutboxEvent event);

    /** What the value is, for the {@code content-type} header. */
    abstract Optional<String> contentType(OutboxEvent event);

    static final class Raw extends MessageFormat {
        @Override
        byte @Nullable [] value(OutboxEvent event) {
            return event.payload();
        }

        @Override
        Optional<String> contentType(OutboxEvent event) {
            return event.contentType();
        }

        @Override
        public String toString() {
            return "raw";
        }
    }
}
