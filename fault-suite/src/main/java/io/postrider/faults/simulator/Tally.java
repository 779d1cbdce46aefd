// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import java.util.ArrayList;
import java.util.List;

/** How often what happened. */
public final class Tally {
    private final long[] counts = new long[Sometimes.values().length];

    void count(Sometimes what) {
        counts[what.ordinal()]++;
    }

    public long of(Sometimes what) {
        return counts[what.ordinal()];
    }

    synchronized void add(Tally other) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += other.counts[i];
        }
    }

    /** What has not happened at all. */
    public List<Sometimes> missing() {
        List<Sometimes> missing = new ArrayList<>();
        for (Sometimes what : Sometimes.values()) {
            if (of(what) == 0) {
                missing.add(what);
            }
        }
        return missing;
    }
}
