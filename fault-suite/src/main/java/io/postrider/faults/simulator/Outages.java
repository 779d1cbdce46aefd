// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.relay.RelayListener;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Which gates of one relay are closed, and what it tries there. */
final class Outages implements RelayListener {
    private final World world;
    private final String relay;
    private final int loops;
    private final Set<String> closed = new HashSet<>();
    private final Map<String, Send> trials = new HashMap<>();

    Outages(World world, String relay, int loops) {
        this.world = world;
        this.relay = relay;
        this.loops = loops;
    }

    @Override
    public void outageStarted(String stream, String code, String message) {
        world.count(Sometimes.GATE_CLOSED);
        world.note(relay, "closes the gate of", stream, code);
        closed.add(stream);
        trials.remove(stream);
    }

    @Override
    public void outageEnded(String stream, Duration lasted) {
        world.count(Sometimes.GATE_OPENED);
        world.note(relay, "opens the gate of", stream);
        closed.remove(stream);
    }

    boolean isClosed(String stream) {
        return closed.contains(stream);
    }

    /** Whether nothing else is being tried where the destination is down. */
    boolean mayTry(Send send) {
        String stream = send.entry.event.stream();
        // What another loop had taken, or was leased, before the gate closed still goes.
        if (send.leased || loops > 1 || !isClosed(stream)) {
            return true;
        }
        Send before = trials.put(stream, send);
        return before == null || before.isAnswered() || world.now() - before.at >= Mood.ANSWER_TIMEOUT.toNanos();
    }
}
