// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a chore every hour in one relay of the group, the owner of {@link #SHARD} or the first worker, beside its other work. The chore
 * tolerates being run twice, so losing the shard meanwhile does no harm. {@link #whenOwner} is for one thread.
 */
final class Housekeeping {
    private static final Logger log = LoggerFactory.getLogger(Housekeeping.class);
    static final int SHARD = 0;
    private static final long EVERY = Duration.ofHours(1).toNanos();

    private final Runnable chore;
    private final LongSupplier ticker;
    private boolean ranBefore;
    private long ranAt;

    Housekeeping(Runnable chore, LongSupplier ticker) {
        this.chore = chore;
        this.ticker = ticker;
    }

    /** How long the history may be kept. */
    static Duration wholeDays(Duration keepHistory) {
        if (keepHistory.compareTo(Duration.ofDays(1)) < 0) {
            throw new IllegalArgumentException("The history is kept in whole days, so " + keepHistory
                    + " is too short. Give a day or more, or turn the history off for the stream.");
        }
        return keepHistory;
    }

    /** Called at every tick of an owner; starts the chore if it is due. */
    void whenOwner() {
        long now = ticker.getAsLong();
        if (ranBefore && now - ranAt < EVERY) {
            return;
        }
        ranBefore = true;
        ranAt = now;
        Thread thread = new Thread(this::run, "postrider-housekeeping");
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            chore.run();
        } catch (RuntimeException e) {
            log.warn("Housekeeping failed and is tried again in an hour: {}", e.getMessage());
        }
    }
}
