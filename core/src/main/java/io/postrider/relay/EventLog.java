// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** Log lines about one event: a fixed sentence, and who it is about in the MDC. Never the payload. */
final class EventLog {
    private static final Logger log = LoggerFactory.getLogger("io.postrider.relay.events");

    private final String relay;

    EventLog(String relay) {
        this.relay = relay;
    }

    void published(Delivery delivery) {
        if (log.isDebugEnabled()) {
            about(delivery, () -> log.debug("Event published"));
        }
    }

    void judged(Delivery delivery, Outcome.Failed outcome) {
        about(delivery, () -> {
            if (outcome instanceof Outcome.Retry retry) {
                log.warn(
                        "Event not delivered, retrying in {} ms: {} {}",
                        retry.delay().toMillis(),
                        retry.code(),
                        retry.message());
            } else if (outcome instanceof Outcome.Unknown) {
                log.warn(
                        "Event may or may not have had its effect and waits until somebody has found out: {} {}",
                        outcome.code(),
                        outcome.message());
            } else {
                log.error("Event is dead: {} {}", outcome.code(), outcome.message());
            }
        });
    }

    private void about(Delivery delivery, Runnable line) {
        OutboxEvent event = delivery.event();
        List<MDC.MDCCloseable> keys = new ArrayList<>();
        keys.add(MDC.putCloseable("relay", relay));
        keys.add(MDC.putCloseable("eventId", event.id().toString()));
        keys.add(MDC.putCloseable("stream", event.stream()));
        keys.add(MDC.putCloseable("eventType", event.type()));
        keys.add(MDC.putCloseable("attempt", Integer.toString(delivery.attempts() + 1)));
        event.aggregateType().ifPresent(type -> keys.add(MDC.putCloseable("aggregateType", type)));
        event.aggregateId().ifPresent(id -> keys.add(MDC.putCloseable("aggregateId", id)));
        traceId(event).ifPresent(id -> keys.add(MDC.putCloseable("traceId", id)));
        try {
            line.run();
        } finally {
            keys.forEach(MDC.MDCCloseable::close);
        }
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
