// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One pass over what nobody owns, in the caller's thread. */
final class Drain {
    private static final Logger log = LoggerFactory.getLogger(Drain.class);

    private final Membership membership;
    private final Loop loop;
    private final Told told;
    private final Runnable wrapUp;
    private long tickAt = System.nanoTime();

    /** @param wrapUp ends what is under way and takes longer than it may at the end */
    Drain(Membership membership, Loop loop, Told told, Runnable wrapUp) {
        this.membership = membership;
        this.loop = loop;
        this.told = told;
        this.wrapUp = wrapUp;
    }

    DrainResult run(long limit, Duration within, Duration stopTime) {
        boolean nothingMore = false;
        long endAt = System.nanoTime() + within.toNanos();
        while (!nothingMore && System.nanoTime() - endAt < 0 && told.publishedCount() + loop.unsettled() < limit) {
            tick();
            long wait = loop.turn();
            nothingMore = loop.isIdle() && loop.foundNothing();
            if (!nothingMore && wait > 0) {
                LockSupport.parkNanos(
                        this, Math.min(wait, membership.tickEvery().toNanos()));
            }
        }
        loop.taking(false);
        long deadline = System.nanoTime() + stopTime.toNanos();
        finish(deadline - Relay.timeToWrapUp(stopTime));
        if (!loop.isIdle()) {
            wrapUp.run();
            finish(deadline);
        }
        return new DrainResult(told.publishedCount(), told.retriedCount(), told.deadCount(), nothingMore);
    }

    private void tick() {
        if (System.nanoTime() - tickAt >= 0) {
            membership.tick(report());
            tickAt = System.nanoTime() + membership.tickEvery().toNanos();
        }
    }

    /** What is under way stays this relay's as long as it waits for it. */
    private void finish(long deadline) {
        while (!loop.isIdle() && System.nanoTime() - deadline < 0) {
            try {
                tick();
            } catch (FeedException e) {
                log.debug("The place of a pass that ends could not be renewed", e);
                tickAt = System.nanoTime() + membership.tickEvery().toNanos();
            }
            long wait = Math.min(loop.turn(), deadline - System.nanoTime());
            LockSupport.parkNanos(
                    this, Math.max(1, Math.min(wait, membership.tickEvery().toNanos())));
        }
    }

    private Membership.Report report() {
        return new Membership.Report(loop.inFlight(), told.publishedCount(), Set.of());
    }
}
