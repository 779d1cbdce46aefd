// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What a loop has delivered and not yet settled. A settle is a commit, and many rows share its price. For one thread. */
final class Unsettled {
    private static final long COLLECT_FOR = Duration.ofMillis(5).toNanos();

    private final int enough;
    private final List<Told.Published> published = new ArrayList<>();
    private long firstAt;
    private boolean urgent;

    /** @param enough so many are settled whatever else there is */
    Unsettled(int enough) {
        this.enough = enough;
    }

    void add(Told.Published done, long now) {
        firstAt = published.isEmpty() ? now : firstAt;
        published.add(done);
    }

    /** Was given up before its answer came: the next read would find it and have it sent once more. */
    void addGivenUp(Told.Published done, long now) {
        add(done, now);
        urgent = true;
    }

    /** Perhaps not settled after all: to be settled now, before anything is read. */
    void addAgain(List<Told.Published> notSettled) {
        published.addAll(notSettled);
        urgent = true;
    }

    /** How long more may be collected, if somebody waits for a settle when half of all rows can be settled. */
    long nanosToSettle(long now, int rows, boolean awaited) {
        if (urgent || published.size() >= enough || (awaited && published.size() * 2 >= rows)) {
            return 0;
        }
        return Math.max(0, firstAt + COLLECT_FOR - now);
    }

    /** Whether nothing may be read before the settle. */
    boolean isUrgent() {
        return urgent;
    }

    boolean isEmpty() {
        return published.isEmpty();
    }

    int size() {
        return published.size();
    }

    List<Told.Published> all() {
        return published;
    }

    void clear() {
        published.clear();
        urgent = false;
    }
}
