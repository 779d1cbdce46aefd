// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** One pass over what nobody owns, in the caller's thread. */
final class Drain {
    private final Membership membership;
    private final Loop loop;
    private final Told told;
    private final Runnable wrapUp;

    /** @param wrapUp ends what is under way and takes longer than it may at the end */
    Drain(Membership membership, Loop loop, Told told, Runnable wrapUp) {
        this.membership = membership;
        this.loop = loop;
        this.told = told;
        this.wrapUp = wrapUp;
    }

    DrainResult run(long limit, Duration within, Duration stopTime) {
        boolean nothingMore = false;
        long tickAt = System.nanoTime();
        long endAt = tickAt + within.toNanos();
        while (!nothingMore && System.nanoTime() - endAt < 0 && told.publishedCount() + loop.unsettled() < limit) {
            if (System.nanoTime() - tickAt >= 0) {
                membership.tick(report());
                tickAt = System.nanoTime() + membership.tickEvery().toNanos();
            }
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

    private void finish(long deadline) {
        while (!loop.isIdle() && System.nanoTime() - deadline < 0) {
            long wait = Math.max(1, loop.turn());
            LockSupport.parkNanos(this, Math.min(wait, Math.max(1, deadline - System.nanoTime())));
        }
    }

    private Membership.Report report() {
        return new Membership.Report(loop.inFlight(), told.publishedCount(), Set.of());
    }
}
