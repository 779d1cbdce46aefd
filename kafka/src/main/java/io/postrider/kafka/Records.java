// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.RetryableFailureException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/**
 * Events as Kafka records: the same event gives the same topic, key, value and headers every time.
 *
 * <p>The record's timestamp is left to the producer, so it is when the record was sent. When the event happened is in a
 * header: as a timestamp it would make the broker drop an event that waited longer than the topic's retention, and
 * refuse one whose writer's clock is ahead.
 */
final class Records {
    private static final Pattern LEGAL_TOPIC = Pattern.compile("[a-zA-Z0-9._-]{1,249}");
    private static final int LONGEST_ERROR = 1024;

    private final Map<String, String> topics;
    private final Function<OutboxEvent, String> otherwise;
    private final MessageFormat format;
    /** Nearly all events go where the one before went. */
    private volatile String lastLegal = "";

    Records(Map<String, String> topics, Function<OutboxEvent, String> otherwise, MessageFormat format) {
        this.topics = Map.copyOf(topics);
        this.otherwise = otherwise;
        this.format = format;
    }

    ProducerRecord<byte[], byte[]> of(OutboxEvent event) {
        return record(topic(event), event, headers(event));
    }

    /** The record that tells a dead letter's readers what could not be delivered, and why. */
    ProducerRecord<byte[], byte[]> dead(OutboxEvent event, String deadLetterTopic, String code, String message) {
        Headers headers = headers(event);
        add(headers, HeaderNames.ERROR_CODE, code);
        add(headers, HeaderNames.ERROR_MESSAGE, message.substring(0, Math.min(message.length(), LONGEST_ERROR)));
        add(headers, HeaderNames.STREAM, event.stream());
        return record(deadLetterTopic, event, headers);
    }

    static boolean isLegalTopic(String topic) {
        return LEGAL_TOPIC.matcher(topic).matches() && !topic.equals(".") && !topic.equals("..");
    }

    private String topic(OutboxEvent event) {
        String mapped = topics.get(event.stream());
        @Nullable String topic = mapped == null ? otherwise.apply(event) : mapped;
        if (topic == null) {
            throw new RetryableFailureException(
                    "NO_TOPIC", "The topic mapping gave no topic for " + event + ". Return a name for it.", null);
        }
        if (!topic.equals(lastLegal) && !isLegalTopic(topic)) {
            throw new PermanentFailureException(
                    "INVALID_TOPIC",
                    "Kafka allows no topic of the name that " + event + " maps to: it takes 1 to 249 of a-z, A-Z,"
                            + " 0-9, '.', '_' and '-'. Map the stream to a topic.");
        }
        lastLegal = topic;
        return topic;
    }

    private ProducerRecord<byte[], byte[]> record(String topic, OutboxEvent event, Headers headers) {
        byte[] key = event.key().map(Records::bytes).orElse(null);
        return new ProducerRecord<>(topic, null, null, key, format.value(event), headers);
    }

    private Headers headers(OutboxEvent event) {
        Headers headers = new RecordHeaders(List.of());
        add(headers, HeaderNames.EVENT_ID, event.id().toString());
        add(headers, HeaderNames.EVENT_TYPE, event.type());
        event.aggregateType().ifPresent(type -> add(headers, HeaderNames.AGGREGATE_TYPE, type));
        event.aggregateId().ifPresent(id -> add(headers, HeaderNames.AGGREGATE_ID, id));
        add(headers, HeaderNames.OCCURRED_AT, event.occurredAt().toString());
        format.contentType(event).ifPresent(type -> add(headers, HeaderNames.CONTENT_TYPE, type));
        format.headers(event).forEach((name, value) -> add(headers, name, value));
        event.headers().forEach((name, value) -> {
            if (!format.replaces(name)) {
                add(headers, name, value);
            }
        });
        return headers;
    }

    private static void add(Headers headers, String name, String value) {
        headers.add(new RecordHeader(name, bytes(value)));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
