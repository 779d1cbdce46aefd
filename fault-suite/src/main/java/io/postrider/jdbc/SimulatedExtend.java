// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Statement;
import io.postrider.faults.simulator.Tables;
import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.faults.simulator.Tables.Status;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.StreamSupport;

/** LeaseSql.EXTEND. */
final class SimulatedExtend extends Statement<List<Long>> {
    static final Duration EXTENSION = Duration.ofMillis(1_500);

    private final Set<Long> ids;
    private final long me;
    private final Ledger ledger;
    private List<Long> found = List.of();

    SimulatedExtend(Set<Long> ids, long me, Ledger ledger) {
        this.ids = new TreeSet<>(ids);
        this.me = me;
        this.ledger = ledger;
    }

    @Override
    protected void look(Tables snapshot, long now) {
        found = leased(ids, snapshot, now);
    }

    @Override
    protected List<Lock> locks() {
        return found.stream().map(id -> new Lock("event", id, false)).toList();
    }

    @Override
    protected void recheck(Tables latest, long now) {
        found = leased(found, latest, now);
    }

    @Override
    protected List<Long> write(Tables tables, long now) {
        for (long id : found) {
            EventRow row = tables.event(id);
            ledger.extended(row);
            tables.put(new EventRow(
                    id,
                    row.event(),
                    row.shard(),
                    row.status(),
                    row.holds(),
                    row.revision(),
                    now + EXTENSION.toNanos(),
                    row.attempts(),
                    me));
        }
        return found;
    }

    private List<Long> leased(Iterable<Long> some, Tables tables, long now) {
        return StreamSupport.stream(some.spliterator(), false)
                .filter(id -> {
                    EventRow row = tables.events().get(id);
                    return row != null && row.status() == Status.WAITING && row.isLeasedTo(me, now);
                })
                .toList();
    }

    @Override
    public String toString() {
        return "extend " + ids + " as " + me;
    }
}
