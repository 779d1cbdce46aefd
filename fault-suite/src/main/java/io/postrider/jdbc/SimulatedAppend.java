// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Sometimes;
import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.faults.simulator.Tables.Status;
import java.time.Duration;

/** LeaseSql.APPEND: leases whatever is there; others see the row when its transaction commits. */
public record SimulatedAppend(Duration lease, Ledger ledger) {

    /**
     * Returns the row as it is inserted.
     *
     * @param plain the row as it is without a lease
     */
    public EventRow insert(EventRow plain, long me, long now) {
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
}
