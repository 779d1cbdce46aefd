// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.relay.SimulatedRelay;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Plays the thread of one loop: turns, and sleeps until it is woken or something is due. */
final class LoopThread {
    private static final long LONGEST_SLEEP = Duration.ofMinutes(1).toNanos();

    private final World world;
    private final Node node;
    private final int loop;
    private @Nullable SimulatedRelay relay;
    private boolean turning;
    private boolean woken;
    private boolean ended;
    private long nextAt = Long.MAX_VALUE;

    LoopThread(World world, Node node, int loop) {
        this.world = world;
        this.node = node;
        this.loop = loop;
    }

    void start(SimulatedRelay relay) {
        this.relay = relay;
        wake();
    }

    boolean isEnded() {
        return ended;
    }

    void wake() {
        woken = true;
        if (!turning) {
            turnAt(world.now() + world.dice.millis(0.01, 0.3));
        }
    }

    private void turnAt(long when) {
        if (when < nextAt) {
            nextAt = when;
            world.schedule.at(when, () -> turn(when));
        }
    }

    private void turn(long planned) {
        if (planned != nextAt || turning || ended || node.isOver() || relay == null) {
            return;
        }
        nextAt = Long.MAX_VALUE;
        if (node.isPaused()) {
            turnAt(world.now() + node.nanosPaused());
            return;
        }
        woken = false;
        turning = true;
        long wait;
        try {
            wait = relay.turn(loop);
        } catch (Crash e) {
            return;
        } finally {
            turning = false;
        }
        boolean idle = relay.isIdle(loop);
        if (node.endsLoop(idle)) {
            end(relay, idle);
        } else {
            long sleep = woken ? 0 : Math.min(wait, LONGEST_SLEEP);
            turnAt(world.now() + sleep + world.dice.millis(0.01, 0.1));
        }
    }

    private void end(SimulatedRelay relay, boolean idle) {
        // Closing gives leases back, which takes a while.
        turning = true;
        try {
            relay.close(loop);
        } catch (Crash e) {
            return;
        }
        ended = true;
        node.loopEnded(idle);
    }
}
