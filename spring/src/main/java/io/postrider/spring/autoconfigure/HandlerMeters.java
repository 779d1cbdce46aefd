// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.postrider.OutboxEvent;
import io.postrider.handler.HandlerListener;
import java.time.Duration;

/** Measures how long handlers take, and counts how they end. */
record HandlerMeters(MeterRegistry registry, String prefix, StreamTags tags) implements HandlerListener {

    @Override
    public void handled(OutboxEvent event, int events, Duration took, boolean done) {
        String stream = tags.of(event.stream());
        registry.timer(prefix + ".handler.duration", StreamTags.NAME, stream, "eventType", event.type())
                .record(took);
        registry.counter(prefix + ".processed", StreamTags.NAME, stream, "result", done ? "done" : "failed")
                .increment(events);
    }
}
