// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Delivery;

/**
 * The right to deliver an event because one owns its shard in this epoch.
 *
 * @param ends how many relays have ended while they were sending it from a shard to be careful with
 */
record ShardClaim(int shard, long epoch, boolean keepsHistory, int ends, Ownership ownership) implements RowClaim {

    static ShardClaim of(Delivery delivery) {
        if (delivery.claim() instanceof ShardClaim claim) {
            return claim;
        }
        throw new IllegalArgumentException("Not taken from this feed: " + delivery);
    }

    @Override
    public boolean mayStart(long nanos) {
        return ownership.mayStart(shard, epoch, nanos);
    }
}
