// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** How often what happened. */
public final class Tally {
    private final Map<Sometimes, Long> counts = new EnumMap<>(Sometimes.class);

    void count(Sometimes what) {
        counts.merge(what, 1L, Long::sum);
    }

    public long of(Sometimes what) {
        return counts.getOrDefault(what, 0L);
    }

    synchronized void add(Tally other) {
        other.counts.forEach((what, count) -> counts.merge(what, count, Long::sum));
    }

    /** What has not happened at all. */
    public List<Sometimes> missing() {
        return Arrays.stream(Sometimes.values()).filter(what -> of(what) == 0).toList();
    }
}
