// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Delivery;
import java.time.Duration;

/** The right to deliver an event because its row is leased; renewed by the membership, asked by a loop. Thread-safe. */
final class CompetingClaim implements RowClaim {
    private final boolean keepsHistory;
    private final long lease;
    private volatile long leasedAt;
    private volatile boolean lost;

    /** @param leasedAt the ticker's reading from before the lease was asked for */
    CompetingClaim(long leasedAt, Duration lease, boolean keepsHistory) {
        this.leasedAt = leasedAt;
        this.lease = lease.toNanos();
        this.keepsHistory = keepsHistory;
    }

    static CompetingClaim of(Delivery delivery) {
        if (delivery.claim() instanceof CompetingClaim claim) {
            return claim;
        }
        throw new IllegalArgumentException("Not taken from this feed: " + delivery);
    }

    @Override
    public boolean keepsHistory() {
        return keepsHistory;
    }

    /** The last quarter of the lease is left for the end of a send, and for its answer to be written. */
    @Override
    public boolean mayStart(long nanos) {
        return !lost && nanos - leasedAt < lease / 4 * 3;
    }

    boolean wantsExtension(long nanos) {
        return !lost && nanos - leasedAt >= lease / 2;
    }

    /** Whether the lease may have run out, so that the row may be due although it is under way here. */
    boolean mayBeDue(long nanos) {
        return lost || nanos - leasedAt >= lease;
    }

    /** @param leasedAt the ticker's reading from before the extension was asked for */
    void extended(long leasedAt) {
        this.leasedAt = leasedAt;
    }

    void lost() {
        lost = true;
    }
}
