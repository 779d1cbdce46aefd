// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.jdbc.SimulatedFeed;
import io.postrider.relay.Intake;
import io.postrider.relay.RetryPolicy;
import io.postrider.relay.SimulatedRelay;
import io.postrider.relay.Window;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The threads of one relay. */
final class Loops {
    private final World world;
    private final Node node;
    private final List<LoopThread> threads = new ArrayList<>();

    Loops(World world, Node node) {
        this.world = world;
        this.node = node;
    }

    /** As Relay.start: one for each part of the shards, and one more if it publishes on commit. */
    SimulatedRelay start(SimulatedFeed feed, Destination destination) {
        List<Intake> intakes = new ArrayList<>(feed.intakes());
        if (node.part().commits()) {
            intakes.add(feed.commits(node.bell()::ring));
        }
        for (int i = 0; i < intakes.size(); i++) {
            threads.add(new LoopThread(world, node, i));
        }
        var setup = new SimulatedRelay.Setup(
                node.name(),
                new SimulatedRelay.Around(
                        destination.publisher(node, false), destination.publisher(node, true), node.bell()),
                new Window(world.mood.windowRows(), 1 << 20),
                RetryPolicy.exponential(Duration.ofMillis(50), Duration.ofMillis(400))
                        .jitter(0.2)
                        .attempts(Mood.ATTEMPTS),
                Mood.ANSWER_TIMEOUT,
                node.outages());
        SimulatedRelay relay =
                new SimulatedRelay(setup, world::now, world.dice.generator(), intakes, loop -> threads.get(loop)::wake);
        threads.forEach(thread -> thread.start(relay));
        return relay;
    }

    boolean areEnded() {
        return threads.stream().allMatch(LoopThread::isEnded);
    }
}
