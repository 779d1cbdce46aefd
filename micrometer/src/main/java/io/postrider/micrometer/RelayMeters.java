// SPDX-License-Identifier: Apache-2.0
package io.postrider.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.postrider.OutboxEvent;
import io.postrider.relay.RelayListener;
import java.time.Duration;

/** Counts what becomes of events; a relay's listener. Thread-safe. */
public final class RelayMeters implements RelayListener {
    private final MeterRegistry registry;
    private final String prefix;
    private final StreamTags tags;

    /**
     * Counts in this registry.
     *
     * @param prefix what the names of all meters begin with
     */
    public RelayMeters(MeterRegistry registry, String prefix, StreamTags tags) {
        this.registry = registry;
        this.prefix = prefix;
        this.tags = tags;
    }

    @Override
    public void published(OutboxEvent event, Duration took) {
        count("published", event);
        registry.timer(prefix + ".events.processing.time", tags.of(event.stream()))
                .record(took);
    }

    @Override
    public void retrying(OutboxEvent event, int failed, Duration delay, String code, String message) {
        count("failed", event);
    }

    @Override
    public void dead(OutboxEvent event, int failed, String code, String message) {
        count("failed", event);
        count("dead_letter", event);
    }

    @Override
    public void unknown(OutboxEvent event, int failed, String code, String message) {
        count("failed", event);
        count("unknown_outcome", event);
    }

    private void count(String what, OutboxEvent event) {
        registry.counter(prefix + ".events." + what, tags.of(event.stream())).increment();
    }
}
