// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/**
 * A clock that moves only when told to: both the wall clock and the ticker that measures durations.
 *
 * <pre>{@code
 * ManualClock clock = new ManualClock();
 * engine.useTicker(clock::nanos);
 * clock.advance(Duration.ofSeconds(5));
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class ManualClock implements InstantSource, LongSupplier {
    private Instant instant;
    private long nanos;

    /** A clock that shows the first second of 2030. */
    public ManualClock() {
        this(Instant.parse("2030-01-01T00:00:00Z"));
    }

    /** A clock that shows this time. */
    public ManualClock(Instant start) {
        instant = start;
    }

    /** The wall clock's time. */
    @Override
    public synchronized Instant instant() {
        return instant;
    }

    /** The ticker, like {@link System#nanoTime}; starts at 0. */
    public synchronized long nanos() {
        return nanos;
    }

    /** The same as {@link #nanos}. */
    @Override
    public long getAsLong() {
        return nanos();
    }

    /** Lets this much time pass. */
    public synchronized void advance(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("Time does not go back by " + time.negated() + "; see setWallClock");
        }
        instant = instant.plus(time);
        nanos += time.toNanos();
    }

    /** Makes the wall clock jump, forth or back, without any time passing. */
    public synchronized void setWallClock(Instant instant) {
        this.instant = instant;
    }
}
