// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Which form of the read a loop asks for: a glance, and where there is more than it can tell, steps through the indexes
 * for a while. In a backlog of one stream sweeps, as long as they bring enough of enough shards, with a turn for other streams
 * every second, and steps as often or less. When glances or steps have cost far more than what they brought, a look at all rows
 * from a {@link Front} on, as long as they are few, a look costs less than the steps did, and one from the beginning is no
 * trifle; also for a second after a backlog. All give the same, but for a sweep, which gives a part of it. For one thread.
 */
final class ReadForm {
    private static final long DEAR = Duration.ofMillis(20).toNanos();
    private static final long DEAR_FOR_ONE_ROW = Duration.ofNanos(50_000).toNanos();
    private static final long TRIFLE = Duration.ofMillis(5).toNanos();
    private static final long MANY_FOR = Duration.ofSeconds(1).toNanos();
    private static final long MORE_FOR_AT_LEAST = Duration.ofMillis(125).toNanos();
    private static final long MORE_FOR_AT_MOST = Duration.ofSeconds(16).toNanos();
    private static final int BUSY = 64;
    /** So often, other streams get their turn although there is a backlog of one. */
    private static final long OTHERS_EVERY = Duration.ofSeconds(1).toNanos();
    /** So often at most, and in a twentieth of the time, so do all shards. */
    private static final long STEPS_EVERY = Duration.ofSeconds(1).toNanos();

    private static final int STEPS_SHARE = 20;
    /** And so often at least. */
    private static final long NO_STEPS_FOR_AT_MOST = Duration.ofSeconds(4).toNanos();

    /** For so long after the end of a backlog, steps would pass over all that was swept. */
    private static final long END_FOR = Duration.ofSeconds(1).toNanos();

    private static final long NO_SWEEP_FOR_AT_LEAST = Duration.ofMillis(500).toNanos();
    private static final long NO_SWEEP_FOR_AT_MOST = Duration.ofSeconds(16).toNanos();

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
    private Optional<Backlog> backlog = Optional.empty();
    private long backlogSeenAt;
    private long noStepsFor;
    private long othersSeenAt;
    private boolean isEnd;
    private long endSince;
    private long backlogForOneRow;
    private boolean sweptInVain;
    private long inVainSince;
    private long noSweepFor = NO_SWEEP_FOR_AT_LEAST;

    /**
     * Events of one stream, more than a read brings.
     *
     * @param largest how many bytes the largest has of those that were read
     */
    record Backlog(String stream, long largest) {
        /** How many to ask for, so that each may have as many bytes as the largest, and a little more. */
        int rows(EventStore.Query query) {
            return (int) Math.max(1, Math.min(query.rows(), query.bytes() / (1 + largest + largest / 4)));
        }
    }

    ReadForm(LongSupplier ticker) {
        this.ticker = ticker;
        this.othersSeenAt = ticker.getAsLong();
    }

    long now() {
        return ticker.getAsLong();
    }

    Front front() {
        return front;
    }

    boolean looksAtAll(long now) {
        areMany &= now - manySince < MANY_FOR;
        isEnd &= now - endSince < END_FOR;
        return (stepsAreDear || isEnd) && !areMany;
    }

    boolean glances(long now, int inFlight) {
        isMore &= now - moreSince < moreFor;
        return !stepsAreDear && !isMore && inFlight < BUSY;
    }

    /** What is to be swept, if it is time for that. */
    Optional<Backlog> sweep(long now) {
        sweptInVain &= now - inVainSince < noSweepFor;
        return sweptInVain || now - backlogSeenAt >= noStepsFor ? Optional.empty() : backlog;
    }

    /** What is being swept, if there is anything; nothing while others get their turn at every read. */
    Optional<Backlog> backlog() {
        return sweptInVain ? Optional.empty() : backlog;
    }

    /** The last steps found at least half of what could be taken, all of one stream; empty: they did not. */
    void sawBacklog(Optional<Backlog> backlog, long now) {
        this.backlog = backlog;
        backlogSeenAt = now;
        backlogForOneRow = stepsForOneRow;
        noStepsFor = Math.min(Math.max(STEPS_EVERY, stepsTook * (STEPS_SHARE - 1)), NO_STEPS_FOR_AT_MOST);
    }

    boolean isTurnOfOthers(long now) {
        return now - othersSeenAt >= OTHERS_EVERY;
    }

    void sawNoOthers(long now) {
        othersSeenAt = now;
    }

    /** There are events of several streams: as long as that may be so, each gets its turn at every read. */
    void sawOthers(long now) {
        sweptInVain = true;
        inVainSince = now;
        othersSeenAt = now;
        noSweepFor = NO_SWEEP_FOR_AT_MOST;
    }

    /**
     * A sweep came to its end. The more often in a row in vain, the longer it will be until the next.
     *
     * @param good whether it brought enough, with no need to give others their turn
     */
    void swept(long took, int rows, boolean good, long now) {
        if (good && forOneRow(took, rows) <= backlogForOneRow * 2) {
            noSweepFor = NO_SWEEP_FOR_AT_LEAST;
            return;
        }
        noSweepFor = Math.min(noSweepFor * 2, NO_SWEEP_FOR_AT_MOST);
        sweptInVain = true;
        inVainSince = now;
        backlog = Optional.empty();
    }

    /** A sweep saw that there is not as much left as it could have taken. */
    void sweptToTheEnd(long now) {
        isEnd = true;
        endSince = now;
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
        stepsAreDear &= !trifle && !dearer;
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
