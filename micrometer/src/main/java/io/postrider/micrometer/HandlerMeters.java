// SPDX-License-Identifier: Apache-2.0
package io.postrider.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.postrider.OutboxEvent;
import io.postrider.handler.HandlerListener;
import java.time.Duration;

/**
 * Measures how long handlers take, and counts how they end. Thread-safe.
 *
 * @param prefix what the names of all meters begin with
 */
public record HandlerMeters(MeterRegistry registry, String prefix, StreamTags tags) implements HandlerListener {
    /** From a statement or two to a call that nearly times out. */
    private static final Duration[] BUCKETS = {
        Duration.ofMillis(5),
        Duration.ofMillis(20),
        Duration.ofMillis(100),
        Duration.ofMillis(500),
        Duration.ofSeconds(2),
        Duration.ofSeconds(10),
        Duration.ofSeconds(30)
    };

    @Override
    public void handled(OutboxEvent event, int events, Duration took, boolean done) {
        Tags stream = tags.of(event.stream());
        Timer.builder(prefix + ".handler.duration")
                .description("How long handlers take")
                .tags(stream.and("eventType", event.type()))
                .serviceLevelObjectives(BUCKETS)
                .register(registry)
                .record(took);
        registry.counter(prefix + ".processed", stream.and("result", done ? "done" : "failed"))
                .increment(events);
    }
}
