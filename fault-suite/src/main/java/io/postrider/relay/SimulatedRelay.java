// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The parts of a {@link Relay} without its threads: somebody else calls {@link #turn}. */
public final class SimulatedRelay {
    /**
     * What it has around it.
     *
     * @param atCommit the same destination, for what is sent at its commit
     * @param bell rung in its process after a commit
     */
    public record Around(Publisher publisher, Publisher atCommit, Bell bell) {}

    /** What it is given. */
    public record Setup(
            String name,
            Around around,
            Window window,
            RetryPolicy retry,
            Duration answerTimeout,
            RelayListener listener) {}

    private final List<Intake> intakes;
    private final List<Loop> loops = new ArrayList<>();
    private final Gates gates;
    private final Told told;
    private final @Nullable CommitDesk desk;
    private final Runnable deafen;

    /**
     * @param intakes one for each loop; one that takes commits is the last
     * @param wakes for each loop what has it turn soon
     */
    public SimulatedRelay(
            Setup setup,
            LongSupplier ticker,
            RandomGenerator random,
            List<Intake> intakes,
            IntFunction<Runnable> wakes) {
        this.intakes = intakes;
        gates = new Gates(random);
        told = new Told(setup.name(), setup.listener());
        Shared shared = new Shared(
                setup.window(),
                new Judge(setup.retry(), random),
                gates,
                told,
                setup.answerTimeout(),
                Slots.unlimited(),
                this::leasesCommits);
        CommitDesk opened = null;
        for (int i = 0; i < intakes.size(); i++) {
            List<Loop> searching = List.copyOf(loops);
            boolean takesCommits = intakes.get(i) instanceof CommitIntake;
            Duration idle = Duration.ofMillis(takesCommits ? 50 : 500L * intakes.size());
            Publisher publisher =
                    takesCommits ? setup.around().atCommit() : setup.around().publisher();
            Pace pace = new Pace(setup.name(), ticker, random, idle);
            Loop loop = new Loop(intakes.get(i), publisher, shared, pace, wakes.apply(i));
            loops.add(loop);
            if (intakes.get(i) instanceof CommitIntake commits) {
                opened = new CommitDesk(commits, gates, told, new CommitDesk.Loops(searching, loop), ticker);
            }
        }
        desk = opened;
        deafen = setup.around().bell().onRing(opened == null ? this::ring : opened);
    }

    private boolean leasesCommits() {
        return desk != null && desk.leases();
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
        if (desk != null) {
            desk.open(taking);
        }
        loops.forEach(loop -> loop.taking(taking));
    }

    /** Nobody hands anything over to it any more. */
    public void deafen() {
        deafen.run();
    }

    public Membership.Report report() {
        int inFlight = loops.stream().mapToInt(Loop::inFlight).sum();
        return new Membership.Report(inFlight, told.publishedCount(), gates.closed());
    }
}
