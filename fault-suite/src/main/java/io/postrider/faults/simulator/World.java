// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

/** What everybody in one seed shares. */
final class World {
    final Schedule schedule = new Schedule();
    final Dice dice;
    final Trace trace;
    final Tally tally = new Tally();
    final Mood mood;
    /** Whether things still go wrong. */
    boolean stormy;

    World(long seed, boolean traced) {
        dice = new Dice(seed);
        trace = new Trace(traced);
        mood = Mood.of(dice);
        stormy = !mood.calm();
    }

    long now() {
        return schedule.now();
    }

    void note(String actor, Object... parts) {
        trace.add(schedule.now(), actor, parts);
    }

    void count(Sometimes what) {
        tally.count(what);
    }

    /** How long a step takes. */
    long moment() {
        return stormy && dice.chance(mood.slow()) ? dice.millis(5, 400) : dice.millis(0.05, 1.5);
    }
}
