// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** An event in the words of CloudEvents 1.0, without its data and the type of that. */
final class CloudEventAttributes {
    /** What the Kafka binding puts before an attribute's name. */
    private static final String PREFIX = "ce_";

    /** An event's own headers of these names would make a record say two things; others with the prefix are extensions. */
    private static final Set<String> TAKEN_HEADERS = Stream.concat(
                    Stream.of("specversion", "id", "source", "type", "subject", "time", "datacontenttype")
                            .map(PREFIX::concat),
                    Stream.of(HeaderNames.CONTENT_TYPE))
            .collect(Collectors.toUnmodifiableSet());

    private final String source;

    CloudEventAttributes(String source) {
        this.source = checked(Objects.requireNonNull(source, "source"));
    }

    private static String checked(String source) {
        try {
            if (!new URI(source).toString().isEmpty()) {
                return source;
            }
        } catch (URISyntaxException e) {
            // Told below, with what to do.
        }
        throw new OutboxException(
                "source=" + source + " was given, but a CloudEvent's source is a URI reference: give one"
                        + " such as /orders or https://example.org/orders.");
    }

    /** By name, in the order of the specification. */
    Map<String, String> of(OutboxEvent event) {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("specversion", "1.0");
        all.put("id", event.id().toString());
        all.put("source", source);
        all.put("type", event.type());
        // An attribute must not be empty, and rows written by other languages may have what append refuses.
        event.aggregateId()
                .or(event::key)
                .filter(subject -> !subject.isEmpty())
                .ifPresent(subject -> all.put("subject", subject));
        all.put("time", event.occurredAt().toString());
        return all;
    }

    /** As the headers of binary mode. */
    Map<String, String> headers(OutboxEvent event) {
        Map<String, String> headers = new LinkedHashMap<>();
        of(event).forEach((name, value) -> headers.put(PREFIX + name, value));
        return headers;
    }

    static boolean isTaken(String header) {
        return TAKEN_HEADERS.contains(header);
    }

    @Override
    public String toString() {
        return source;
    }
}
