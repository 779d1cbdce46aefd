// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One pass over what nobody owns, in the caller's thread. */
final class Drain {
    private static final Logger log = LoggerFactory.getLogger(Drain.class);

    private final Membership membership;
    private final Loop loop;
    private final Told told;
    private final LongConsumer wrapUp;
    private long tickAt = System.nanoTime();
    private boolean interrupted;

    /** @param wrapUp ends what is under way before answers are heard no more, at the time that it is given */
    Drain(Membership membership, Loop loop, Told told, LongConsumer wrapUp) {
        this.membership = membership;
        this.loop = loop;
        this.told = told;
        this.wrapUp = wrapUp;
    }

    /** Ends early when the thread is interrupted, and when its place cannot be renewed, which it throws. */
    DrainResult run(long limit, Duration within, Duration stopTime) {
        boolean nothingMore;
        try {
            nothingMore = take(limit, System.nanoTime() + within.toNanos());
        } finally {
            loop.taking(false);
            finish(stopTime);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return new DrainResult(told.publishedCount(), told.retriedCount(), told.deadCount(), nothingMore);
    }

    /** Returns whether nothing is left. */
    private boolean take(long limit, long endAt) {
        boolean nothingMore = false;
        while (!nothingMore
                && !interrupted
                && System.nanoTime() - endAt < 0
                && told.publishedCount() + loop.unsettled() < limit) {
            tick();
            long wait = loop.turn();
            nothingMore = loop.isIdle() && loop.foundNothing();
            if (!nothingMore) {
                park(wait);
            }
        }
        return nothingMore;
    }

    private void finish(Duration stopTime) {
        long deadline = System.nanoTime() + stopTime.toNanos();
        awaitAnswers(deadline - Relay.timeToWrapUp(stopTime));
        if (!loop.isIdle()) {
            wrapUp.accept(deadline);
            awaitAnswers(deadline);
        }
    }

    /** What is under way stays this relay's as long as it waits for it. */
    private void awaitAnswers(long deadline) {
        while (!loop.isIdle() && System.nanoTime() - deadline < 0) {
            try {
                tick();
            } catch (FeedException e) {
                log.debug("The place of a pass that ends could not be renewed", e);
            }
            park(Math.min(loop.turn(), deadline - System.nanoTime()));
        }
    }

    private void tick() {
        if (System.nanoTime() - tickAt >= 0) {
            tickAt = System.nanoTime() + membership.tickEvery().toNanos();
            membership.tick(report());
        }
    }

    private void park(long nanos) {
        if (nanos > 0) {
            LockSupport.parkNanos(this, Math.min(nanos, membership.tickEvery().toNanos()));
        }
        // As long as nobody took note of it, parking would end at once.
        interrupted |= Thread.interrupted();
    }

    private Membership.Report report() {
        return new Membership.Report(loop.inFlight(), told.publishedCount(), Set.of());
    }
}
