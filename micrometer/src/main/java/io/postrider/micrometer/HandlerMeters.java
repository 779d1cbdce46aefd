// SPDX-License-Identifier: Apache-2.0
package io.postrider.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.postrider.OutboxEvent;
import io.postrider.handler.HandlerListener;
import java.time.Duration;

/**
 * Measures how long handlers take, and counts how they end. Thread-safe.
 *
 * @param prefix what the names of all meters begin with
 */
public record HandlerMeters(MeterRegistry registry, String prefix, StreamTags tags) implements HandlerListener {

    @Override
    public void handled(OutboxEvent event, int events, Duration took, boolean done) {
        Tags stream = tags.of(event.stream());
        registry.timer(prefix + ".handler.duration", stream.and("eventType", event.type()))
                .record(took);
        registry.counter(prefix + ".processed", stream.and("result", done ? "done" : "failed"))
                .increment(events);
    }
}
