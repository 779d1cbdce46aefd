// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** Records as the events that they were, in the raw format of {@link KafkaPublisher}. Reads whatever a topic may hold. */
final class ReceivedEvents {
    /** The type of a record that does not say which it is. */
    private static final String UNTYPED = "Record";

    private final Map<String, String> streams;

    /** @param streams by topic */
    ReceivedEvents(Map<String, String> streams) {
        this.streams = Map.copyOf(streams);
    }

    OutboxEvent of(ConsumerRecord<byte[], byte[]> record) {
        Map<String, String> own = new HashMap<>();
        for (Header header : record.headers()) {
            if (header.value() != null) {
                own.put(header.key(), text(header.value()));
            }
        }
        @Nullable String type = own.remove(HeaderNames.EVENT_TYPE);
        OutboxEvent.Builder event = OutboxEvent.of(
                        streams.getOrDefault(record.topic(), record.topic()), type == null ? UNTYPED : type)
                .id(id(own.remove(HeaderNames.EVENT_ID), record))
                .occurredAt(time(own.remove(HeaderNames.OCCURRED_AT), record));
        if (record.key() != null) {
            event.key(text(record.key()));
        } else {
            event.unkeyed();
        }
        @Nullable String aggregateType = own.remove(HeaderNames.AGGREGATE_TYPE);
        @Nullable String aggregateId = own.remove(HeaderNames.AGGREGATE_ID);
        if (aggregateType != null || aggregateId != null) {
            event.aggregate(aggregateType == null ? "" : aggregateType, aggregateId == null ? "" : aggregateId);
        }
        @Nullable String contentType = own.remove(HeaderNames.CONTENT_TYPE);
        if (record.value() != null && contentType != null) {
            event.payload(record.value(), contentType);
        } else if (record.value() != null) {
            event.payload(record.value());
        }
        return event.headers(own).buildStored();
    }

    /** A record that was not written by a relay has no id: its place in the log is one, the same every time. */
    private static UUID id(@Nullable String given, ConsumerRecord<byte[], byte[]> record) {
        if (given != null) {
            try {
                return UUID.fromString(given);
            } catch (IllegalArgumentException e) {
                // As if it had none.
            }
        }
        String place = record.topic() + "/" + record.partition() + "/" + record.offset();
        return UUID.nameUUIDFromBytes(place.getBytes(StandardCharsets.UTF_8));
    }

    private static Instant time(@Nullable String given, ConsumerRecord<byte[], byte[]> record) {
        if (given != null) {
            try {
                return Instant.parse(given);
            } catch (DateTimeException e) {
                // As if it had none.
            }
        }
        return Instant.ofEpochMilli(Math.max(0, record.timestamp()));
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
