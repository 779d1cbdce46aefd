// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import io.postrider.relay.Claim;
import io.postrider.relay.Delivery;
import java.util.OptionalLong;

/** One record that has come and is not finished. Guarded by its {@link Arrivals}, but for {@link #mayStart}. */
final class Arrival implements Claim {
    private enum State {
        HERE,
        TAKEN,
        WAITING,
        LEAVING,
        FINISHED
    }

    private final Assignment assignment;
    private final long offset;
    private final long number;
    private final OutboxEvent event;
    private State state = State.HERE;
    private volatile boolean started;
    private int attempts;
    private long dueAt;

    /** @param number later ones have higher ones; below 1, as it is no row of a table */
    Arrival(Assignment assignment, long offset, long number, OutboxEvent event) {
        this.assignment = assignment;
        this.offset = offset;
        this.number = number;
        this.event = event;
    }

    Assignment assignment() {
        return assignment;
    }

    long offset() {
        return offset;
    }

    OutboxEvent event() {
        return event;
    }

    boolean isHere() {
        return state == State.HERE || state == State.WAITING;
    }

    boolean isTaken() {
        return state == State.TAKEN;
    }

    /**
     * Asked right before it is started, so this is also how its start is known: noted first and asked second, as its partition
     * is revoked first and looked at second, so that one of the two sees the other.
     */
    @Override
    public boolean mayStart(long nanos) {
        boolean before = started;
        started = true;
        if (assignment.mayStart(nanos)) {
            return true;
        }
        started = before;
        return false;
    }

    /** Started, or on its way to the dead: whoever gets its partition now would do it once more. */
    boolean isUnderWay() {
        return (state == State.TAKEN && started) || state == State.LEAVING;
    }

    boolean isFinished() {
        return state == State.FINISHED;
    }

    /** Whether later events of its key have to wait, because it will be tried again, or is on its way to the dead. */
    boolean isHeld(long now) {
        return state == State.LEAVING || (state == State.WAITING && dueAt - now > 0);
    }

    OptionalLong nanosToDue(long now) {
        return state == State.WAITING ? OptionalLong.of(dueAt - now) : OptionalLong.empty();
    }

    Delivery take() {
        state = State.TAKEN;
        started = false;
        return new Delivery(number, 0, attempts, event, this);
    }

    void release() {
        state = State.HERE;
    }

    void retryAt(long nanos) {
        state = State.WAITING;
        attempts++;
        dueAt = nanos;
    }

    void leave() {
        state = State.LEAVING;
    }

    void finish() {
        state = State.FINISHED;
    }
}
