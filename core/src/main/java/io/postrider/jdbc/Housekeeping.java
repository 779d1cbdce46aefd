// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has one relay of the group, the owner of {@link #SHARD} or the first worker, look now and then whether there is something to do besides its
 * other work. What is due, and that no other process does it, is known in the database, so losing the shard meanwhile does no
 * harm. {@link #whenOwner} is for one thread.
 */
final class Housekeeping {
    private static final Logger log = LoggerFactory.getLogger(Housekeeping.class);
    static final int SHARD = 0;
    private static final long EVERY = Duration.ofSeconds(15).toNanos();
    /** An application that starts has better things to do. */
    private static final long FIRST_AFTER = Duration.ofSeconds(5).toNanos();

    private final Runnable chore;
    private final LongSupplier ticker;
    private final AtomicBoolean running = new AtomicBoolean();
    private boolean planned;
    private long nextAt;

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
        if (!planned) {
            planned = true;
            nextAt = now + FIRST_AFTER;
        }
        if (now - nextAt < 0) {
            return;
        }
        nextAt = now + EVERY;
        if (!running.compareAndSet(false, true)) {
            return;
        }
        Thread thread = new Thread(this::run, "postrider-housekeeping");
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            chore.run();
        } catch (RuntimeException e) {
            log.warn("Housekeeping failed and is tried again: {}", e.getMessage());
        } finally {
            running.set(false);
        }
    }
}
