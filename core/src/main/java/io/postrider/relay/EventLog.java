// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.internal.EventMdc;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
            } else if (outcome instanceof Outcome.Expired) {
                log.warn("Event is dead: {} {}", outcome.code(), outcome.message());
            } else {
                log.error("Event is dead: {} {}", outcome.code(), outcome.message());
            }
        });
    }

    private void about(Delivery delivery, Runnable line) {
        try (EventMdc mdc = EventMdc.of(delivery.event(), delivery.attempts() + 1)) {
            mdc.with("relay", relay);
            line.run();
        }
    }
}
