// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/** The parts of a {@link Relay} without its threads: somebody else calls {@link #turn}. */
public final class SimulatedRelay {
    /** What it is given. */
    public record Setup(
            String name,
            Publisher publisher,
            Window window,
            RetryPolicy retry,
            Duration answerTimeout,
            RelayListener listener) {}

    private final List<Intake> intakes;
    private final List<Loop> loops = new ArrayList<>();
    private final Gates gates;
    private final Told told;

    /** @param wakes for each loop what has it turn soon */
    public SimulatedRelay(
            Setup setup,
            LongSupplier ticker,
            RandomGenerator random,
            List<Intake> intakes,
            IntFunction<Runnable> wakes) {
        this.intakes = intakes;
        gates = new Gates(random);
        told = new Told(setup.name(), setup.listener());
        Loop.Shared shared =
                new Loop.Shared(setup.window(), new Judge(setup.retry(), random), gates, told, setup.answerTimeout());
        Duration idle = Duration.ofMillis(500).multipliedBy(intakes.size());
        for (int i = 0; i < intakes.size(); i++) {
            Pace pace = new Pace(setup.name(), ticker, random, idle);
            loops.add(new Loop(intakes.get(i), setup.publisher(), shared, pace, wakes.apply(i)));
        }
    }

    public long turn(int loop) {
        return loops.get(loop).turn();
    }

    public boolean isIdle(int loop) {
        return loops.get(loop).isIdle();
    }

    public void close(int loop) {
        intakes.get(loop).close();
    }

    public void ring() {
        loops.forEach(Loop::ring);
    }

    public void taking(boolean taking) {
        loops.forEach(loop -> loop.taking(taking));
    }

    public Membership.Report report() {
        int inFlight = loops.stream().mapToInt(Loop::inFlight).sum();
        return new Membership.Report(inFlight, told.publishedCount(), gates.closed());
    }
}
