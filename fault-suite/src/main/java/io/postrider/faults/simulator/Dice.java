// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** The one source of chance of a seed. */
final class Dice {
    static final long MS = 1_000_000;

    private final SplittableRandom random;

    Dice(long seed) {
        random = new SplittableRandom(seed);
    }

    RandomGenerator generator() {
        return random;
    }

    boolean chance(double probability) {
        return probability > 0 && random.nextDouble() < probability;
    }

    /** From 0 up to, and without, this bound. */
    int below(int bound) {
        return random.nextInt(bound);
    }

    /** Nanoseconds, from one number of milliseconds to another. */
    long millis(double from, double to) {
        return (long) ((from + (to - from) * random.nextDouble()) * MS);
    }

    <T> T pick(List<T> items) {
        return items.get(random.nextInt(items.size()));
    }
}
