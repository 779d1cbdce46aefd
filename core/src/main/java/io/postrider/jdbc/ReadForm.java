// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Which form of the read a loop asks for: a glance, and where there is more than it can tell, steps through the indexes for a
 * while. When one of these has cost far more than what it brought, a look at all rows from a {@link Front} on, as long as they are
 * few, a look costs less than the steps did, and one from the beginning is no trifle. All give the same. For one thread.
 */
final class ReadForm {
    private static final long DEAR = Duration.ofMillis(20).toNanos();
    private static final long DEAR_FOR_ONE_ROW = Duration.ofNanos(50_000).toNanos();
    private static final long TRIFLE = Duration.ofMillis(5).toNanos();
    private static final long MANY_FOR = Duration.ofSeconds(1).toNanos();
    private static final long MORE_FOR_AT_LEAST = Duration.ofMillis(125).toNanos();
    private static final long MORE_FOR_AT_MOST = Duration.ofSeconds(16).toNanos();
    private static final int BUSY = 64;

    private final LongSupplier ticker;
    private final Front front = new Front();
    private boolean stepsAreDear;
    private long stepsTook;
    private long stepsForOneRow;
    private boolean areMany;
    private long manySince;
    private boolean isMore;
    private long moreSince;
    private long moreFor = MORE_FOR_AT_LEAST;

    ReadForm(LongSupplier ticker) {
        this.ticker = ticker;
    }

    long now() {
        return ticker.getAsLong();
    }

    Front front() {
        return front;
    }

    boolean looksAtAll(long now) {
        areMany &= now - manySince < MANY_FOR;
        return stepsAreDear && !areMany;
    }

    boolean glances(long now, int inFlight) {
        isMore &= now - moreSince < moreFor;
        return !stepsAreDear && !isMore && inFlight < BUSY;
    }

    /** A glance was enough. */
    void glanced(long took, int rows) {
        moreFor = MORE_FOR_AT_LEAST;
        stepped(took, rows);
    }

    void stepped(long took, int rows) {
        stepsTook = took;
        stepsForOneRow = forOneRow(took, rows);
        stepsAreDear = took >= DEAR && stepsForOneRow >= DEAR_FOR_ONE_ROW;
    }

    /** @param fromTheBeginning what one from later on takes says nothing about what the steps would have to pass */
    void looked(long took, int rows, boolean fromTheBeginning) {
        boolean trifle = fromTheBeginning && took < TRIFLE;
        // Of few rows each is dear, and for many rows a long time is not.
        boolean dearer = took > stepsTook && forOneRow(took, rows) > stepsForOneRow;
        stepsAreDear = !trifle && !dearer;
    }

    private static long forOneRow(long took, int rows) {
        return took / Math.max(1, rows);
    }

    /** A glance found that there is more than it can tell. The more often in a row, the longer it will be so. */
    void sawMore(long now) {
        moreFor = Math.min(moreFor * 2, MORE_FOR_AT_MOST);
        isMore = true;
        moreSince = now;
    }

    /** A look at all rows found that they are too many for it. */
    void foundMany(long now) {
        areMany = true;
        manySince = now;
    }
}
