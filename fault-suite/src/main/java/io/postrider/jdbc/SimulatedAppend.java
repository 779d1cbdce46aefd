// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Sometimes;
import io.postrider.faults.simulator.Tables;
import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.faults.simulator.Tables.RelayRow;
import io.postrider.faults.simulator.Tables.Status;
import io.postrider.faults.simulator.Tables.StreamRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * LeaseSql.APPEND: decides about the lease by what its transaction sees; others see the row when that commits.
 *
 * @param seen what was committed when its snapshot was taken
 * @param fixed whether that was at the beginning of the transaction instead of the statement
 * @param own what its transaction has inserted before
 */
public record SimulatedAppend(Tables seen, boolean fixed, List<EventRow> own, Duration lease, Ledger ledger) {

    /**
     * Returns the row as it is inserted.
     *
     * @param plain the row as it is without a lease
     */
    public EventRow insert(EventRow plain, long me, long now) {
        if (!mayLease(plain, me, now)) {
            return plain;
        }
        ledger.sometimes(Sometimes.EVENT_LEASED);
        return new EventRow(
                plain.id(),
                plain.event(),
                plain.shard(),
                Status.WAITING,
                plain.event().key().isPresent(),
                plain.revision(),
                now + lease.toNanos(),
                plain.attempts(),
                me);
    }

    private boolean mayLease(EventRow plain, long me, long now) {
        if (fixed) {
            ledger.sometimes(Sometimes.NO_LEASE_UNDER_A_FIXED_SNAPSHOT);
            return false;
        }
        RelayRow relay = seen.relays().get(me);
        StreamRow stream = seen.streams().get(plain.event().stream());
        if (relay == null || relay.leaseUntil() <= now || (stream != null && stream.paused())) {
            return false;
        }
        return plain.event().key().isEmpty() || nothingElseIsOlder(plain, me, now);
    }

    private boolean nothingElseIsOlder(EventRow plain, long me, long now) {
        List<EventRow> rows = new ArrayList<>(seen.events().values());
        rows.addAll(own);
        SimulatedKey key = new SimulatedKey(rows, plain);
        boolean free = key.firstHolding(row -> row.isLeasedTo(me, now)) == Long.MAX_VALUE
                && key.oldestPending() == Long.MAX_VALUE;
        if (!free) {
            ledger.sometimes(Sometimes.LEASE_REFUSED_FOR_AN_OLDER_EVENT);
        } else if (key.holding().findAny().isPresent()) {
            ledger.sometimes(Sometimes.LEASED_BEHIND_ANOTHER);
        }
        return free;
    }
}
