// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Sometimes;
import io.postrider.faults.simulator.Statement;
import io.postrider.faults.simulator.Tables;
import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.faults.simulator.Tables.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** LeaseSql.RELEASE, of some rows or of all that this relay has leased. */
final class SimulatedLeaseRelease extends Statement<List<Long>> {
    private final @Nullable Set<Long> ids;
    private final long me;
    private final Ledger ledger;
    private final Set<Long> but;
    private List<Long> found = List.of();

    SimulatedLeaseRelease(Set<Long> ids, long me, Ledger ledger) {
        this(new TreeSet<>(ids), Set.of(), me, ledger);
    }

    static SimulatedLeaseRelease allBut(Set<Long> but, long me, Ledger ledger) {
        return new SimulatedLeaseRelease(null, but, me, ledger);
    }

    private SimulatedLeaseRelease(@Nullable Set<Long> ids, Set<Long> but, long me, Ledger ledger) {
        this.ids = ids;
        this.but = but;
        this.me = me;
        this.ledger = ledger;
    }

    @Override
    protected void look(Tables snapshot, long now) {
        found = leased(ids == null ? snapshot.events().keySet() : ids, snapshot, now);
    }

    @Override
    protected List<Lock> locks() {
        return found.stream().map(id -> new Lock("event", id, false)).toList();
    }

    @Override
    protected void recheck(Tables latest, long now) {
        found = leased(found, latest, now);
        if (ids != null && ids.stream().anyMatch(id -> latest.events().containsKey(id) && !found.contains(id))) {
            ledger.sometimes(Sometimes.RELEASE_CAME_TOO_LATE);
        }
    }

    @Override
    protected List<Long> write(Tables tables, long now) {
        for (long id : found) {
            EventRow row = tables.event(id);
            ledger.givesBack(row);
            tables.put(new EventRow(
                    id, row.event(), row.shard(), Status.PENDING, false, row.revision(), now, row.attempts(), 0));
        }
        return found;
    }

    private List<Long> leased(Iterable<Long> some, Tables tables, long now) {
        List<Long> leased = new ArrayList<>();
        for (long id : some) {
            EventRow row = tables.events().get(id);
            if (row != null && !but.contains(id) && row.status() == Status.WAITING && row.isLeasedTo(me, now)) {
                leased.add(id);
            }
        }
        return leased;
    }

    @Override
    public String toString() {
        return "give back " + (ids == null ? "all" : ids) + " as " + me;
    }
}
