// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which of the loops of a process has suspects: where several did, nobody could say whose had ended it. Who had them the last
 * time leaves them to those who were refused meanwhile, until one of them has asked again. Thread-safe.
 */
final class RightToSuspects {
    /** Longer than from one look of an idle loop to its next; whoever was refused may also be gone. */
    private static final long LEFT_TO_OTHERS = Duration.ofSeconds(1).toNanos();

    private final LongSupplier ticker;
    private @Nullable Object holder;
    private @Nullable Object last;
    private boolean othersWantIt;
    private long refusedAt;

    RightToSuspects(LongSupplier ticker) {
        this.ticker = ticker;
    }

    /** Returns whether this loop has the right now; then no other gets it until it {@link #giveUp gives it up}. */
    synchronized boolean take(Object loop) {
        long now = ticker.getAsLong();
        if (holder != null && holder != loop) {
            othersWantIt = true;
            refusedAt = now;
            return false;
        }
        if (holder == null && othersWantIt && last == loop && now - refusedAt < LEFT_TO_OTHERS) {
            return false;
        }
        othersWantIt &= holder == loop;
        holder = loop;
        return true;
    }

    synchronized void giveUp(Object loop) {
        if (holder == loop) {
            holder = null;
            last = loop;
        }
    }
}
