// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;

/** A time of each day, in a zone. On a day that has it not, since the clock is put forward, it is as much later. */
public record DailyAt(LocalTime time, ZoneId zone) {

    /** Two o'clock at night, UTC. */
    public static DailyAt ofDefaults() {
        return new DailyAt(LocalTime.of(2, 0), ZoneOffset.UTC);
    }

    /** The first such time that is later than this one. */
    public Instant after(Instant instant) {
        ZonedDateTime day = instant.atZone(zone);
        Instant today = day.toLocalDate().atTime(time).atZone(zone).toInstant();
        return today.isAfter(instant)
                ? today
                : day.toLocalDate().plusDays(1).atTime(time).atZone(zone).toInstant();
    }
}
