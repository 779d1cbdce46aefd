// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * How long an event waits after a failed attempt of its own, and after how many it is dead. Immutable.
 *
 * <pre>{@code
 * RetryPolicy.exponential(ofSeconds(2), ofMinutes(10)).attempts(5);
 * RetryPolicy.delays(ofSeconds(1), ofSeconds(5), ofSeconds(30)).attempts(8);   // the last delay repeats
 * }</pre>
 *
 * <p>An outage of the destination is no attempt and is not governed by this.
 */
public final class RetryPolicy {
    /** Explicit delays are not cut. */
    private static final Duration NEVER_CUT = Duration.ofMillis(Long.MAX_VALUE);

    private final List<Duration> delays;
    private final double factor;
    private final Duration max;
    private final double jitter;
    private final int maxAttempts;

    private RetryPolicy(List<Duration> delays, double factor, Duration max, double jitter, int maxAttempts) {
        this.delays = delays;
        this.factor = factor;
        this.max = max;
        this.jitter = jitter;
        this.maxAttempts = maxAttempts;
    }

    /** Delay n is first × 2^(n−1), at most {@code max}; 5 attempts and no jitter unless changed. */
    public static RetryPolicy exponential(Duration first, Duration max) {
        atLeastAMillisecond("first delay", first);
        if (max.compareTo(first) < 0) {
            throw new IllegalArgumentException(
                    "The longest delay (" + max + ") is shorter than the first (" + first + "). Swap or raise it.");
        }
        return new RetryPolicy(List.of(first), 2, max, 0, 5);
    }

    /** These delays in turn; the last repeats. One attempt more than delays, unless changed; no jitter. */
    public static RetryPolicy delays(Duration... delays) {
        if (delays.length == 0) {
            throw new IllegalArgumentException("No delay was given. Give at least one.");
        }
        Arrays.stream(delays).forEach(delay -> atLeastAMillisecond("delay", delay));
        return new RetryPolicy(List.of(delays), 1, NEVER_CUT, 0, delays.length + 1);
    }

    /** 2 s doubling to 10 min, ±20 %, 5 attempts. */
    public static RetryPolicy ofDefaults() {
        return exponential(Duration.ofSeconds(2), Duration.ofMinutes(10)).jitter(0.2);
    }

    /** 1 s, 5 s, 30 s, 5 min, 30 min. */
    public static RetryPolicy stepped() {
        return delays(
                Duration.ofSeconds(1),
                Duration.ofSeconds(5),
                Duration.ofSeconds(30),
                Duration.ofMinutes(5),
                Duration.ofMinutes(30));
    }

    /** 0.5 s doubling to 60 s, ±20 %, 10 attempts: for handlers in the same process. */
    public static RetryPolicy brisk() {
        return exponential(Duration.ofMillis(500), Duration.ofSeconds(60))
                .jitter(0.2)
                .attempts(10);
    }

    /** By how much each delay of an exponential policy exceeds the one before. */
    public RetryPolicy factor(double factor) {
        if (max.equals(NEVER_CUT)) {
            throw new IllegalArgumentException("A policy of explicit delays has no factor.");
        }
        if (!(factor >= 1 && factor <= 100)) {
            throw new IllegalArgumentException("Factor " + factor + " is not between 1 and 100.");
        }
        return new RetryPolicy(delays, factor, max, jitter, maxAttempts);
    }

    /** Spreads each delay evenly over ± this share of it, so that what failed together is not tried together. */
    public RetryPolicy jitter(double share) {
        if (!(share >= 0 && share < 1)) {
            throw new IllegalArgumentException("Jitter " + share + " is not between 0 and 1.");
        }
        return new RetryPolicy(delays, factor, max, share, maxAttempts);
    }

    /** How many attempts an event has in all; an event's own {@code maxAttempts} goes before this. */
    public RetryPolicy attempts(int maxAttempts) {
        if (maxAttempts < 1) {
            throw new IllegalArgumentException("maxAttempts is " + maxAttempts + ". Give 1 or more.");
        }
        return new RetryPolicy(delays, factor, max, jitter, maxAttempts);
    }

    public int maxAttempts() {
        return maxAttempts;
    }

    /** The delay after {@code failed} failed attempts (1, 2, …), before jitter. */
    public Duration delay(int failed) {
        if (failed < 1) {
            throw new IllegalArgumentException("There is no delay after " + failed + " failed attempts.");
        }
        Duration base = delays.get(Math.min(failed, delays.size()) - 1);
        double exponent = Math.max(0, failed - delays.size());
        double millis = base.toMillis() * Math.pow(factor, exponent);
        return millis >= max.toMillis() ? max : Duration.ofMillis(Math.round(millis));
    }

    /**
     * How long after its first attempt an event is tried for the last time, at the most and without the outages between
     * them: so long an event may come again of which the first attempt was heard of by nobody.
     */
    public Duration longest() {
        double millis = 0;
        for (int failed = 1; failed < maxAttempts; failed++) {
            double delay = delay(failed).toMillis() * (1 + jitter);
            if (failed > delays.size() && delay(failed).equals(delay(failed - 1))) {
                // It stays so long from here on.
                millis += delay * (maxAttempts - failed);
                break;
            }
            millis += delay;
        }
        return Duration.ofMillis((long) millis);
    }

    Duration delay(int failed, RandomGenerator random) {
        double spread = 1 + jitter * (2 * random.nextDouble() - 1);
        return Duration.ofMillis(Math.round(delay(failed).toMillis() * spread));
    }

    private static void atLeastAMillisecond(String what, Duration duration) {
        if (duration.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException("The " + what + " is " + duration + ". Give a millisecond or more.");
        }
    }
}
