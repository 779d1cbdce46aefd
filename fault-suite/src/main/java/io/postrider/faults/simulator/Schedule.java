// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;

/**
 * Virtual time, and what happens when. A thread of the engine that waits for the database runs what comes next meanwhile,
 * on top of its own stack: so one thread plays all of them, and what runs on top only delays what waits below.
 */
final class Schedule {
    private record Step(long at, long number, Runnable action) implements Comparable<Step> {
        @Override
        public int compareTo(Step other) {
            return at == other.at ? Long.compare(number, other.number) : Long.compare(at, other.at);
        }
    }

    private final PriorityQueue<Step> steps = new PriorityQueue<>();
    private long now;
    private long numbers;

    long now() {
        return now;
    }

    void at(long when, Runnable action) {
        steps.add(new Step(Math.max(when, now), ++numbers, action));
    }

    void in(long nanos, Runnable action) {
        at(now + nanos, action);
    }

    /** Lets things happen until this is so. */
    void until(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Step next = steps.remove();
            now = next.at;
            next.action.run();
        }
    }

    /** How many steps have been planned. */
    long planned() {
        return numbers;
    }
}
