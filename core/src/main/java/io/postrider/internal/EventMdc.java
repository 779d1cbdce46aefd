// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.OutboxEvent;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.MDC;

/** Says in the MDC which event a thread is busy with, until it is closed; then it says what it said before. For one thread. */
public final class EventMdc implements AutoCloseable {
    private final Map<String, Optional<String>> before = new LinkedHashMap<>();

    private EventMdc() {}

    public static EventMdc of(OutboxEvent event, int attempt) {
        EventMdc mdc = new EventMdc();
        mdc.with("eventId", event.id().toString());
        mdc.with("stream", event.stream());
        mdc.with("eventType", event.type());
        mdc.with("attempt", Integer.toString(attempt));
        event.aggregateType().ifPresent(type -> mdc.with("aggregateType", type));
        event.aggregateId().ifPresent(id -> mdc.with("aggregateId", id));
        traceId(event).ifPresent(id -> mdc.with("traceId", id));
        return mdc;
    }

    /** Says only of which stream and type they are, like this one of them. */
    public static EventMdc ofMany(OutboxEvent like) {
        return new EventMdc().with("stream", like.stream()).with("eventType", like.type());
    }

    public EventMdc with(String key, String value) {
        before.putIfAbsent(key, Optional.ofNullable(MDC.get(key)));
        MDC.put(key, value);
        return this;
    }

    @Override
    public void close() {
        before.forEach((key, value) -> value.ifPresentOrElse(was -> MDC.put(key, was), () -> MDC.remove(key)));
    }

    /** The trace id inside a W3C traceparent, else the correlation id. */
    private static Optional<String> traceId(OutboxEvent event) {
        String parent = event.headers().get("traceparent");
        if (parent != null && parent.length() >= 35) {
            return Optional.of(parent.substring(3, 35));
        }
        return Optional.ofNullable(event.headers().get("X-Correlation-ID"));
    }
}
