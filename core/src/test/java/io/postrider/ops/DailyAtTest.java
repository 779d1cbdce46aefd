// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DailyAtTest {
    @ParameterizedTest
    @CsvSource({
        "2025-03-01T01:59:59Z, 2025-03-01T02:00:00Z",
        "2025-03-01T02:00:00Z, 2025-03-02T02:00:00Z",
        "2025-12-31T23:00:00Z, 2026-01-01T02:00:00Z"
    })
    void isTwoOClockUniversalTimeByDefault(Instant now, Instant next) {
        assertThat(DailyAt.ofDefaults().after(now)).isEqualTo(next);
    }

    @ParameterizedTest
    @CsvSource({
        "2025-01-15T12:00:00Z, 2025-01-16T01:30:00Z",
        "2025-07-15T12:00:00Z, 2025-07-16T00:30:00Z",
        // 02:30 does not exist on the day on which the clock is put forward: 03:30 in summer time.
        "2025-03-29T12:00:00Z, 2025-03-30T01:30:00Z",
        "2025-03-30T01:30:00Z, 2025-03-31T00:30:00Z",
        // It exists twice on the day on which it is put back: the first one counts, once.
        "2025-10-25T12:00:00Z, 2025-10-26T00:30:00Z",
        "2025-10-26T00:30:00Z, 2025-10-27T01:30:00Z"
    })
    void followsTheClockOnTheWallOfItsZone(Instant now, Instant next) {
        assertThat(new DailyAt(LocalTime.of(2, 30), ZoneId.of("Europe/Berlin")).after(now))
                .isEqualTo(next);
    }
}
