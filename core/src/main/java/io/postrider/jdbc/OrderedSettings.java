// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.time.Duration;
import java.util.List;

/** How an ordered feed shares its work; made by {@link OrderedFeed#builder}. */
record OrderedSettings(String group, List<StreamSettings> streams, Duration lease, Duration statementTimeout) {
    static final String DEFAULT_GROUP = "default";
    private static final Duration LONGEST_TICK = Duration.ofMillis(500);

    /** Streams that nobody has registered belong to the default group. */
    boolean adoptsStreams() {
        return group.equals(DEFAULT_GROUP);
    }

    Duration tickEvery() {
        Duration share = lease.dividedBy(8);
        return share.compareTo(LONGEST_TICK) < 0 ? share : LONGEST_TICK;
    }

    /** For how long after the start of a renewal sends may be started: a quarter of the lease is left for their end. */
    Duration right() {
        return lease.multipliedBy(3).dividedBy(4);
    }
}
