// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a Kafka record looks like. A tombstone has no value in any format. Immutable. */
public abstract sealed class MessageFormat
        permits MessageFormat.Raw, Envelope, CloudEventsBinary, CloudEventsStructured {

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

    /**
     * CloudEvents 1.0 in binary mode: the stored payload, byte for byte, and the attributes {@code id, source, type,
     * subject, time} as headers that begin with {@code ce_}. The subject is the aggregate's id, or else the key.
     *
     * @param source who sends the events, as a URI reference such as {@code /orders}; with the id it identifies an event
     */
    public static MessageFormat cloudEvents(String source) {
        return new CloudEventsBinary(new CloudEventAttributes(source));
    }

    /**
     * CloudEvents 1.0 in structured mode: one JSON document with the attributes of {@link #cloudEvents} and the payload,
     * as {@code data} if it is JSON and as {@code data_base64} otherwise. A tombstone is sent in binary mode.
     *
     * @param source as for {@link #cloudEvents}
     */
    public static MessageFormat cloudEventsStructured(String source) {
        return new CloudEventsStructured(new CloudEventAttributes(source));
    }

    /** The same bytes for the same event, however often it is called. */
    abstract byte @Nullable [] value(OutboxEvent event);

    /** What the value is, for the {@code content-type} header. */
    abstract Optional<String> contentType(OutboxEvent event);

    /** Headers of the format's own, the same for the same event. */
    Map<String, String> headers(OutboxEvent event) {
        return Map.of();
    }

    /** Whether an event's own header of this name is left out, because the format says the same thing. */
    boolean replaces(String header) {
        return false;
    }

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
