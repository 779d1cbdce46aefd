// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;

/**
 * One event on its way: the row as it was read, and the claim under which it was.
 *
 * <p>Two deliveries are the same only if they are the same object: a row that is read again is another delivery.
 */
public final class Delivery {
    /** What an event costs in memory beside its payload, roughly. */
    private static final int OVERHEAD_BYTES = 512;

    private final long id;
    private final int revision;
    private final int attempts;
    private final OutboxEvent event;
    private final Claim claim;

    /**
     * @param id the row; below 1 for what is no row of a table. Later events of a key have higher ones
     * @param revision the row's revision when it was read; a write must find the same
     * @param attempts failed attempts so far
     */
    public Delivery(long id, int revision, int attempts, OutboxEvent event, Claim claim) {
        this.id = id;
        this.revision = revision;
        this.attempts = attempts;
        this.event = event;
        this.claim = claim;
    }

    public long id() {
        return id;
    }

    public int revision() {
        return revision;
    }

    public int attempts() {
        return attempts;
    }

    public OutboxEvent event() {
        return event;
    }

    public Claim claim() {
        return claim;
    }

    /** What it takes of the budget of bytes in flight. */
    public long weight() {
        return (long) event.payloadSize() + OVERHEAD_BYTES;
    }

    @Override
    public String toString() {
        return event + " row " + id + " revision " + revision;
    }
}
