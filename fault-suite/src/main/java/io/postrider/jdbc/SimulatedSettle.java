// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Sometimes;
import io.postrider.faults.simulator.Statement;
import io.postrider.faults.simulator.Tables;
import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.relay.Delivery;
import java.util.List;

/** Sql.SETTLE and SETTLE_WITH_HISTORY: a DELETE by id, identity and revision, in the order of the ids. */
final class SimulatedSettle extends Statement<List<Long>> {
    private final List<Delivery> published;
    private List<Delivery> found = List.of();

    private final Ledger ledger;

    SimulatedSettle(List<Delivery> published, Ledger ledger) {
        this.published = published;
        this.ledger = ledger;
    }

    @Override
    protected void look(Tables snapshot, long now) {
        found = asSent(published, snapshot);
    }

    @Override
    protected List<Lock> locks() {
        return found.stream().map(row -> new Lock("event", row.id(), false)).toList();
    }

    @Override
    protected void recheck(Tables latest, long now) {
        found = asSent(found, latest);
        if (found.size() < published.size()) {
            ledger.sometimes(Sometimes.STALE_SETTLE_PASSED_OVER);
        }
    }

    @Override
    protected List<Long> write(Tables tables, long now) {
        for (Delivery delivery : found) {
            // The same row can be there twice, when it was sent again before the first answer came.
            EventRow gone = tables.events().get(delivery.id());
            if (gone != null) {
                tables.remove(gone);
                ledger.settled(gone);
            }
        }
        return found.stream().map(Delivery::id).toList();
    }

    private static List<Delivery> asSent(List<Delivery> deliveries, Tables tables) {
        return deliveries.stream()
                .filter(delivery -> {
                    EventRow row = tables.events().get(delivery.id());
                    return row != null
                            && row.event().id().equals(delivery.event().id())
                            && row.revision() == delivery.revision();
                })
                .toList();
    }

    @Override
    public String toString() {
        return "settle " + published.stream().map(Delivery::id).toList();
    }
}
