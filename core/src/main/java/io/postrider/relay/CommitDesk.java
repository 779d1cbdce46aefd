// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Where commits of this process are taken in to be sent at once. While the destination of a stream does not answer, its
 * events are better left to the relay that will try it; where no loop of this process does, one event in a while is the
 * trial. Thread-safe.
 */
final class CommitDesk implements Bell.Hearer {
    private static final long TRY_EVERY = Duration.ofSeconds(1).toNanos();

    private final CommitIntake intake;
    private final Gates gates;
    private final List<Loop> searching;
    private final Loop sending;
    private final OwnEvents own;
    private final LongSupplier ticker;
    private final AtomicLong tryAt;
    private volatile boolean open = true;
    /** Until then events are leased, so that a missing right to do so is found at once, not when another relay joins. */
    private volatile boolean hasBeenHanded;

    /**
     * The loops of the relay.
     *
     * @param searching those that look for events, and try closed gates
     * @param sending the one of the intake
     */
    record Loops(List<Loop> searching, Loop sending) {}

    CommitDesk(CommitIntake intake, Gates gates, Told told, Loops loops, LongSupplier ticker) {
        this.intake = intake;
        this.gates = gates;
        this.own = told.own();
        this.searching = List.copyOf(loops.searching());
        this.sending = loops.sending();
        this.ticker = ticker;
        this.tryAt = new AtomicLong(ticker.getAsLong());
    }

    /** Whether it takes anything in; what was leased before may still be handed over. */
    void open(boolean open) {
        this.open = open;
    }

    @Override
    public void rung() {
        searching.forEach(Loop::ring);
    }

    @Override
    public OptionalLong lessee(OutboxEvent event) {
        if (!open || (gates.isClosed(event.stream()) && !isTrial())) {
            return OptionalLong.empty();
        }
        if (needsNoLease()) {
            own.appended(event.id());
            return OptionalLong.empty();
        }
        return intake.lessee(event);
    }

    /** Whether commits are leased to this relay now. */
    boolean leases() {
        return !needsNoLease();
    }

    /**
     * Where no other relay reads, and there is nothing that the event might have to wait for, to ring costs the writer less and
     * is as soon. Several loops would all have to read.
     */
    private boolean needsNoLease() {
        return hasBeenHanded
                && searching.size() == 1
                && intake.ownsAll()
                && !searching.get(0).isBehind();
    }

    @Override
    public void handedOver(List<Bell.Handed> events) {
        hasBeenHanded = true;
        intake.handOver(events);
        sending.ring();
    }

    private boolean isTrial() {
        long due = tryAt.get();
        long now = ticker.getAsLong();
        return searching.isEmpty() && now - due >= 0 && tryAt.compareAndSet(due, now + TRY_EVERY);
    }
}
