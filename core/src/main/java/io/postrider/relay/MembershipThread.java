// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps a relay's place among the others, and lets it run out if a loop of the relay no longer turns. */
final class MembershipThread extends Thread {
    private static final Logger log = LoggerFactory.getLogger(MembershipThread.class);
    private static final long STUCK_AFTER = Duration.ofSeconds(15).toNanos();

    /** A loop that can be seen to turn. */
    interface Checkpoint {
        /** The ticker's reading at the end of its last turn. */
        long lastTurn();
    }

    private final String relay;
    private final Membership membership;
    private final List<? extends Checkpoint> loops;
    private final Supplier<Membership.Report> report;
    private volatile boolean ending;
    private boolean failing;

    MembershipThread(
            String relay, Membership membership, List<? extends Checkpoint> loops, Supplier<Membership.Report> report) {
        super("postrider-" + relay + "-membership");
        setDaemon(false);
        this.relay = relay;
        this.membership = membership;
        this.loops = List.copyOf(loops);
        this.report = report;
    }

    void wants(boolean share) {
        membership.wants(share);
        LockSupport.unpark(this);
    }

    @Override
    public void run() {
        while (!ending) {
            long before = System.nanoTime();
            if (loops.stream().allMatch(loop -> before - loop.lastTurn() < STUCK_AFTER)) {
                tick();
            } else {
                complain("a loop has not turned for "
                        + Duration.ofNanos(STUCK_AFTER).toSeconds() + " s");
            }
            long wait = membership.tickEvery().toNanos() - (System.nanoTime() - before);
            if (wait > 0 && !ending) {
                LockSupport.parkNanos(this, wait);
            }
        }
    }

    /** Ends the thread, then leaves. */
    void leave() {
        ending = true;
        LockSupport.unpark(this);
        boolean interrupted = false;
        while (isAlive()) {
            try {
                join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        try {
            membership.leave();
        } catch (RuntimeException e) {
            log.warn("Relay {} could not sign off; others take over when its lease ends: {}", relay, e.getMessage());
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void tick() {
        try {
            membership.tick(report.get());
            failing = false;
        } catch (FeedException e) {
            complain(String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            log.error("Relay {} met an unexpected error while renewing its place", relay, e);
        }
    }

    private void complain(String why) {
        if (!failing) {
            failing = true;
            log.warn("Relay {} could not renew its place and will lose it if this goes on: {}", relay, why);
        }
    }
}
