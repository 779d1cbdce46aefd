// SPDX-License-Identifier: Apache-2.0
package io.postrider.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import io.postrider.ops.Backlog;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the table now and then what is pending, being processed, dead and unknown; scrapes read the last answer. Thread-safe. */
public final class BacklogGauges implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(BacklogGauges.class);

    private final Backlog backlog;
    private final StreamTags tags;
    private final Duration refresh;
    private final MultiGauge pending;
    private final MultiGauge processing;
    private final MultiGauge dead;
    private final MultiGauge unknown;
    private final MultiGauge oldest;
    private boolean failing;
    private @Nullable ScheduledExecutorService thread;

    /**
     * Nothing is asked before {@link #start}.
     *
     * @param names what the names of all meters begin with
     */
    public BacklogGauges(Backlog backlog, MeterRegistry registry, String names, Duration refresh, StreamTags tags) {
        this.backlog = backlog;
        this.tags = tags;
        this.refresh = refresh;
        String prefix = names + ".events.";
        pending = MultiGauge.builder(prefix + "pending")
                .description("Events that are not delivered yet")
                .register(registry);
        processing = MultiGauge.builder(prefix + "processing")
                .description(
                        "Those of them that are leased: by workers of a work queue, or by the process that wrote them")
                .register(registry);
        dead = MultiGauge.builder(prefix + "dead")
                .description("Events that wait for a person")
                .register(registry);
        unknown = MultiGauge.builder(prefix + "unknown")
                .description("Events of which somebody must find out whether they had their effect")
                .register(registry);
        oldest = MultiGauge.builder(prefix + "oldest.pending")
                .description("Age of the oldest event that is not delivered yet")
                .baseUnit("seconds")
                .register(registry);
    }

    /** One stream, or all those that share a tag. */
    private record Sum(double pending, double processing, double dead, double unknown, double oldest) {
        static Sum of(Backlog.Stream stream) {
            return new Sum(
                    stream.undelivered(),
                    stream.leased(),
                    stream.dead(),
                    stream.unknown(),
                    stream.oldest().orElse(Duration.ZERO).toMillis() / 1000.0);
        }

        Sum with(Sum other) {
            return new Sum(
                    pending + other.pending,
                    processing + other.processing,
                    dead + other.dead,
                    unknown + other.unknown,
                    Math.max(oldest, other.oldest));
        }
    }

    private void look() {
        try {
            Map<Tags, Sum> sums = new HashMap<>();
            backlog.streams().forEach(each -> sums.merge(tags.of(each.name()), Sum.of(each), Sum::with));
            show(pending, sums, Sum::pending);
            show(processing, sums, Sum::processing);
            show(dead, sums, Sum::dead);
            show(unknown, sums, Sum::unknown);
            show(oldest, sums, Sum::oldest);
            failing = false;
        } catch (RuntimeException e) {
            if (!failing) {
                log.warn("The gauges of the outbox stand still: {}", e.getMessage());
            }
            failing = true;
        }
    }

    private static void show(MultiGauge gauge, Map<Tags, Sum> sums, ToDoubleFunction<Sum> value) {
        gauge.register(
                sums.entrySet().stream()
                        .map(entry -> Row.of(entry.getKey(), value.applyAsDouble(entry.getValue())))
                        .toList(),
                true);
    }

    /** Begins to ask, in a thread of its own; does nothing if it has begun. */
    public synchronized void start() {
        if (thread == null) {
            ScheduledExecutorService started = Executors.newSingleThreadScheduledExecutor(work -> {
                Thread daemon = new Thread(work, "postrider-gauges");
                daemon.setDaemon(true);
                return daemon;
            });
            var unused = started.scheduleWithFixedDelay(this::look, 0, refresh.toMillis(), TimeUnit.MILLISECONDS);
            thread = started;
        }
    }

    /** Asks no more; may be started again. */
    @Override
    public synchronized void close() {
        if (thread != null) {
            thread.shutdownNow();
            thread = null;
        }
    }

    /** Whether it asks. */
    public synchronized boolean isRunning() {
        return thread != null;
    }
}
