// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Claim;
import io.postrider.relay.Delivery;

/** A claim to a row of the table of events. */
interface RowClaim extends Claim {

    /** Whether the row goes to the history when it is settled. */
    boolean keepsHistory();

    static RowClaim of(Delivery delivery) {
        if (delivery.claim() instanceof RowClaim claim) {
            return claim;
        }
        throw new IllegalArgumentException("Not taken from this feed: " + delivery);
    }
}
