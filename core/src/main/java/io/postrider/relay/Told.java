// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What people and listeners are told: log lines, listener calls, counts. Thread-safe; never throws. */
final class Told {
    private static final Logger log = LoggerFactory.getLogger(Relay.class);

    /** @param took from the start of the send to the answer */
    record Published(Delivery delivery, Duration took) {}

    private final String relay;
    private final RelayListener listener;
    private final EventLog events;
    private final OwnEvents own = new OwnEvents();
    private final LongAdder published = new LongAdder();
    private final LongAdder retried = new LongAdder();
    private final LongAdder dead = new LongAdder();

    Told(String relay, RelayListener listener) {
        this.relay = relay;
        this.listener = listener;
        this.events = new EventLog(relay);
    }

    void published(Published done) {
        published.increment();
        own.published(done.delivery().event().id());
        events.published(done.delivery());
        tell(() -> listener.published(done.delivery().event(), done.took()));
    }

    void judged(Verdict verdict) {
        Delivery delivery = verdict.delivery();
        own.failed(delivery.event().id());
        int failed = delivery.attempts() + (verdict.outcome() instanceof Outcome.Expired ? 0 : 1);
        events.judged(delivery, verdict.outcome());
        Outcome.Failed outcome = verdict.outcome();
        if (outcome instanceof Outcome.Retry retry) {
            retried.increment();
            tell(() -> listener.retrying(delivery.event(), failed, retry.delay(), retry.code(), retry.message()));
        } else if (outcome instanceof Outcome.Unknown) {
            tell(() -> listener.unknown(delivery.event(), failed, outcome.code(), outcome.message()));
        } else {
            dead.increment();
            tell(() -> listener.dead(delivery.event(), failed, outcome.code(), outcome.message()));
        }
    }

    void outageStarted(String stream, Failure failure) {
        log.warn(
                "Stream {} waits, its destination takes nothing (relay {}): {} {}",
                stream,
                relay,
                failure.code(),
                failure.message());
        tell(() -> listener.outageStarted(stream, failure.code(), failure.message()));
    }

    void outageEnded(String stream, Duration lasted) {
        log.info("Stream {} flows again after {} ms (relay {})", stream, lasted.toMillis(), relay);
        tell(() -> listener.outageEnded(stream, lasted));
    }

    /** What this process has appended, and its own loops find. */
    OwnEvents own() {
        return own;
    }

    long publishedCount() {
        return published.sum();
    }

    long retriedCount() {
        return retried.sum();
    }

    long deadCount() {
        return dead.sum();
    }

    private void tell(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException e) {
            log.warn("A listener of relay {} failed; delivery goes on", relay, e);
        }
    }
}
