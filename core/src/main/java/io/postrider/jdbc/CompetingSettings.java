// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.time.Duration;
import java.util.List;

/**
 * How a competing feed takes its place; made by {@link CompetingFeed#builder}.
 *
 * @param lease for how long a silent process keeps its place, and an event stays leased unless a worker asks for longer
 */
record CompetingSettings(String group, List<StreamSettings> streams, Duration lease, Duration statementTimeout) {
    private static final Duration LONGEST_TICK = Duration.ofMillis(500);

    Duration tickEvery() {
        Duration share = lease.dividedBy(8);
        return share.compareTo(LONGEST_TICK) < 0 ? share : LONGEST_TICK;
    }
}
