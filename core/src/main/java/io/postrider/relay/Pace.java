// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When a loop reads next, and how long it leaves a feed alone that does not answer. Reads follow each other at once while
 * they bring more, then after 10 ms, then ever later up to the idle interval; a loop that is told when something is due
 * stops there. For one thread.
 */
final class Pace {
    private static final Logger log = LoggerFactory.getLogger(Pace.class);
    private static final long BUSY = Duration.ofMillis(10).toNanos();
    private static final long FIRST_PAUSE = Duration.ofMillis(50).toNanos();
    /** A read that takes longer, because of what an old snapshot keeps or of others' load, must not become a load itself. */
    private static final long COSTLY = Duration.ofMillis(20).toNanos();

    /** Busy writers and a busy relay make reads that long; longer ones have another reason. */
    private static final long SLOW = Duration.ofMillis(100).toNanos();

    private static final long LONGEST_REST = Duration.ofMillis(250).toNanos();
    private static final long LOOK_AT_OTHERS_FIRST = Duration.ofMillis(50).toNanos();
    private static final long LOOK_AT_OTHERS_AT_LEAST = Duration.ofMillis(400).toNanos();
    private static final long LOOK_AT_OTHERS_WHEN_RUNG = Duration.ofMillis(10).toNanos();
    private static final long BEHIND_AFTER = Duration.ofMillis(500).toNanos();
    private static final long NEVER = Duration.ofDays(1).toNanos();
    private static final long LAST_PAUSE = Duration.ofSeconds(1).toNanos();

    private final String name;
    private final LongSupplier ticker;
    private final RandomGenerator random;
    private final long idle;
    private final boolean told;

    private long interval = BUSY;
    private long readAt;
    private long lastReadAt;
    private long restUntil;
    private boolean lastReadWasEmpty;
    private boolean lastReadLeftMore;
    private boolean leftSomeOut;
    /** As a poll, it comes the less often the longer it has found nothing. */
    private long lookAtOthersEvery = LOOK_AT_OTHERS_FIRST;
    /** Since when every read has left something or was slow; 0: the last one was not so. Asked for by any thread. */
    private volatile long behindSince;

    private long feedPause;
    private long feedDownSince;
    private long feedAt;

    Pace(String name, LongSupplier ticker, RandomGenerator random, Duration idle) {
        this(name, ticker, random, idle, false);
    }

    /** @param told whether it will be told when something is due, and need not look every {@code idle} */
    Pace(String name, LongSupplier ticker, RandomGenerator random, Duration idle, boolean told) {
        this.told = told;
        this.name = name;
        this.ticker = ticker;
        this.random = random;
        this.idle = Math.max(BUSY, idle.toNanos());
        this.readAt = ticker.getAsLong();
        this.lastReadAt = readAt;
        this.restUntil = readAt;
        this.feedAt = readAt;
    }

    LongSupplier ticker() {
        return ticker;
    }

    /** The longest that a read is put off for if there is nothing to wake the loop. */
    long idle() {
        return idle;
    }

    long nanosToRead(long now) {
        return Math.max(0, readAt - now);
    }

    /** While a stream is full and left out, the others need not be looked at for every answer to that one. */
    long nanosToLookAtOthers(boolean rung, long now) {
        return lastReadAt + (rung ? LOOK_AT_OTHERS_WHEN_RUNG : lookAtOthersEvery) - now;
    }

    void readNow() {
        interval = BUSY;
        readAt = ticker.getAsLong();
    }

    /** For how long no read may begin, whoever asks for it. */
    long nanosToRest(long now) {
        return Math.max(0, restUntil - now);
    }

    /**
     * A read that began then came back with this.
     *
     * @param leftOutFull whether a stream was left out that has no room
     * @param putOff whether it left other things to later reads
     */
    void read(Taken taken, boolean leftOutFull, boolean putOff, long began, long now) {
        lastReadAt = now;
        boolean behind = taken.more() || leftOutFull || putOff || now - began >= SLOW;
        behindSince = !behind ? 0 : behindSince == 0 ? began : behindSince;
        if (leftOutFull) {
            long later = Math.min(lookAtOthersEvery * 2, LOOK_AT_OTHERS_AT_LEAST);
            lookAtOthersEvery = taken.deliveries().isEmpty() ? later : LOOK_AT_OTHERS_FIRST;
        }
        long took = now - began;
        restUntil = taken.more() || took < COSTLY ? now : now + Math.min(took, LONGEST_REST);
        lastReadWasEmpty = taken.deliveries().isEmpty() && !taken.more() && taken.complete();
        lastReadLeftMore = taken.more();
        leftSomeOut = !taken.complete();
        interval = taken.deliveries().isEmpty() ? Math.min(interval * 2, idle) : BUSY;
        long wait = told && interval >= idle ? NEVER : (long) (interval * (0.8 + 0.4 * random.nextDouble()));
        readAt = taken.more() ? now : now + wait;
        taken.nextDue().ifPresent(due -> readBy(now + due.toNanos()));
    }

    /** Something was settled or judged: what the last read left out because of it can be read. */
    void wrote() {
        if (leftSomeOut) {
            readNow();
        }
    }

    /** These verdicts were written: read again when the first of them is due. */
    void dueIn(List<Verdict> written) {
        for (Verdict verdict : written) {
            if (verdict.outcome() instanceof Outcome.Retry retry) {
                readBy(ticker.getAsLong() + retry.delay().toNanos());
            }
        }
    }

    boolean lastReadWasEmpty() {
        return lastReadWasEmpty;
    }

    /** Whether some could not be read by now: it was cut off, or something under way stood in the way. */
    boolean lastReadLeftMore() {
        return lastReadLeftMore || leftSomeOut;
    }

    /** Whether what is committed now might have to wait, as it would have for a while. From any thread. */
    boolean isBehind() {
        long since = behindSince;
        return since != 0 && ticker.getAsLong() - since >= BEHIND_AFTER;
    }

    boolean mayTouchFeed(long now) {
        return feedAt - now <= 0;
    }

    long nanosToFeed(long now) {
        return Math.max(0, feedAt - now);
    }

    void feedFailed(FeedException e, long now) {
        if (feedPause == 0) {
            feedDownSince = now;
            log.warn("Relay {} cannot reach its database and keeps trying: {}", name, e.getMessage());
        }
        feedPause = feedPause == 0 ? FIRST_PAUSE : Math.min(feedPause * 2, LAST_PAUSE);
        feedAt = now + (long) (feedPause * (0.5 + 0.5 * random.nextDouble()));
    }

    void feedAnswered() {
        if (feedPause != 0) {
            feedPause = 0;
            log.info(
                    "Relay {} reaches its database again after {} ms",
                    name,
                    Duration.ofNanos(ticker.getAsLong() - feedDownSince).toMillis());
            readNow();
        }
    }

    /** Something is due at this reading of the ticker. */
    void readBy(long at) {
        if (at - readAt < 0) {
            readAt = at;
        }
    }
}
