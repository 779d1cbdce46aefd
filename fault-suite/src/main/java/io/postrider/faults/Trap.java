// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.faults.Failpoint.Moment;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** Counts how often a relay has been at each place, and springs at its failpoints. Thread-safe. */
public final class Trap {
    private final Map<Place, AtomicLong> visits = new EnumMap<>(Place.class);
    private final Action action;

    /** What happens at a failpoint; may throw what a database throws, or never return. */
    @FunctionalInterface
    public interface Action {
        void at(Failpoint reached) throws SQLException;
    }

    /** Tells the action of every place that is reached and left. */
    public Trap(Action action) {
        for (Place place : Place.values()) {
            visits.put(place, new AtomicLong());
        }
        this.action = action;
    }

    /** Ends this JVM at the failpoint, as kill -9 does: no hook runs, nothing is flushed. */
    static Trap halting(Failpoint deadly) {
        return new Trap(reached -> {
            if (reached.equals(deadly)) {
                Runtime.getRuntime().halt(137);
            }
        });
    }

    static Trap counting() {
        return new Trap(reached -> {});
    }

    /** How often the relay has reached this place. */
    public long visits(Place place) {
        return counter(place).get();
    }

    long enter(Place place) throws SQLException {
        long nth = counter(place).incrementAndGet();
        action.at(new Failpoint(Moment.BEFORE, place, nth));
        return nth;
    }

    void left(Place place, long nth) throws SQLException {
        action.at(new Failpoint(Moment.AFTER, place, nth));
    }

    private AtomicLong counter(Place place) {
        AtomicLong counter = visits.get(place);
        if (counter == null) {
            throw new IllegalStateException("No counter for " + place);
        }
        return counter;
    }
}
