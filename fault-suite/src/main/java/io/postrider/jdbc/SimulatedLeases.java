// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Node;
import io.postrider.relay.Delivery;
import io.postrider.relay.Verdict;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;

/** The statements of {@link LeaseStatements}, each modelled after its SQL. */
final class SimulatedLeases implements LeaseStore {
    private final Node node;
    private final Ledger ledger;
    private final SimulatedEvents events;
    private final Ownership ownership;
    private final LongSupplier ticker;

    SimulatedLeases(Node node, Ledger ledger, SimulatedEvents events, Ownership ownership, LongSupplier ticker) {
        this.node = node;
        this.ledger = ledger;
        this.events = events;
        this.ownership = ownership;
        this.ticker = ticker;
    }

    @Override
    public Found read(Collection<UUID> ids, Collection<Long> inFlight) {
        long me = ownership.member();
        Found found = node.run(
                "read leased",
                new SimulatedLeasedRead(new HashSet<>(ids), new HashSet<>(inFlight), me, ticker.getAsLong(), ledger));
        found.sendable().forEach(each -> ledger.tookLeased(node, each.event(), me));
        return found;
    }

    @Override
    public void settle(List<Delivery> published) {
        events.settle(published);
    }

    /** No publisher of the simulator leaves an outcome unknown. */
    @Override
    public Set<Long> unknown(List<Verdict> verdicts) {
        throw new IllegalStateException("Nothing is unknown here: " + verdicts);
    }

    @Override
    public void release(Collection<Long> ids) {
        node.run("give back", new SimulatedLeaseRelease(new HashSet<>(ids), ownership.member(), ledger));
    }

    @Override
    public void releaseAllBut(Collection<Long> ids) {
        node.run("give back", SimulatedLeaseRelease.allBut(new HashSet<>(ids), ownership.member(), ledger));
    }

    @Override
    public Map<Long, Long> extend(Collection<Long> ids) {
        long again = ticker.getAsLong()
                + SimulatedExtend.EXTENSION.minus(SimulatedFeed.SEND_TIME).toNanos();
        Map<Long, Long> extended = new HashMap<>();
        node.run("extend", new SimulatedExtend(new HashSet<>(ids), ownership.member(), ledger))
                .forEach(id -> extended.put(id, again));
        return extended;
    }

    @Override
    public void register(Set<String> streams) {
        events.register(streams);
    }

    @Override
    public void close() {}
}
