// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;
import org.jspecify.annotations.Nullable;

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
    private final @Nullable Expiry expiry;

    /**
     * @param isPast whether it was past when the row was read, as the feed says
     * @param at when it is, by the ticker; never later than it is for the feed
     */
    private record Expiry(boolean isPast, long at) {}

    /**
     * @param id the row; below 1 for what is no row of a table. Later events of a key have higher ones
     * @param revision the row's revision when it was read; a write must find the same
     * @param attempts failed attempts so far
     */
    public Delivery(long id, int revision, int attempts, OutboxEvent event, Claim claim) {
        this(id, revision, attempts, event, claim, null);
    }

    private Delivery(long id, int revision, int attempts, OutboxEvent event, Claim claim, @Nullable Expiry expiry) {
        this.id = id;
        this.revision = revision;
        this.attempts = attempts;
        this.event = event;
        this.claim = claim;
        this.expiry = expiry;
    }

    /**
     * The same of an event that expires.
     *
     * @param isPast whether that time was past when the row was read, by the clock of the feed
     * @param nanos the reading of the ticker from which on no send may be started, lest it be past then
     */
    public Delivery expiring(boolean isPast, long nanos) {
        return new Delivery(id, revision, attempts, event, claim, new Expiry(isPast, nanos));
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

    /** Whether it had expired when it was read: it is not to be sent. */
    public boolean hasExpired() {
        return expiry != null && expiry.isPast;
    }

    /** Whether a send may still be started at this reading of the ticker; if not, the row is to be read again. */
    public boolean mayStart(long nanos) {
        return (expiry == null || nanos - expiry.at < 0) && claim.mayStart(nanos);
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
