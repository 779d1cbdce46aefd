// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import java.util.Locale;

/**
 * A moment in the life of a relay at which something is to happen: before or after it has been at this place for the n-th
 * time, counted from 1.
 */
public record Failpoint(Moment moment, Place place, long nth) {
    /** On which side of a place. */
    public enum Moment {
        BEFORE,
        AFTER
    }

    public static Failpoint before(Place place, long nth) {
        return new Failpoint(Moment.BEFORE, place, nth);
    }

    public static Failpoint after(Place place, long nth) {
        return new Failpoint(Moment.AFTER, place, nth);
    }

    static Failpoint parse(String text) {
        String[] parts = text.split("-", 3);
        return new Failpoint(
                Moment.valueOf(parts[0].toUpperCase(Locale.ROOT)),
                Place.valueOf(parts[1].toUpperCase(Locale.ROOT)),
                Long.parseLong(parts[2]));
    }

    /** Such as {@code before-settle-3}. */
    @Override
    public String toString() {
        return (moment + "-" + place + "-" + nth).toLowerCase(Locale.ROOT);
    }
}
