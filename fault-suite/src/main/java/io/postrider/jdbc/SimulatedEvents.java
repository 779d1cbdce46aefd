// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Node;
import io.postrider.faults.simulator.Statement;
import io.postrider.faults.simulator.Tables;
import io.postrider.faults.simulator.Tables.ShardRow;
import io.postrider.faults.simulator.Tables.StreamRow;
import io.postrider.relay.Delivery;
import io.postrider.relay.Verdict;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The statements of {@link EventStatements}, each modelled after its SQL. */
final class SimulatedEvents implements EventStore {
    private final Node node;
    private final Ledger ledger;
    private final Ownership ownership;

    SimulatedEvents(Node node, Ledger ledger, Ownership ownership) {
        this.node = node;
        this.ledger = ledger;
        this.ownership = ownership;
    }

    @Override
    public Found read(Query query) {
        SimulatedRead read = new SimulatedRead(query, ownership, ledger);
        Found found = node.run("read", read);
        for (Delivery delivery : found.deliveries()) {
            ShardClaim claim = ShardClaim.of(delivery);
            ShardRow shard = new ShardRow(claim.shard(), ownership.member(), claim.epoch());
            ledger.took(node, delivery.event(), shard, read.seenAt());
        }
        return found;
    }

    /** Two statements if some keep a history and some do not, as in {@link EventStatements#settle}. */
    @Override
    public void settle(List<Delivery> published) {
        List<Delivery> ordered = published.stream()
                .sorted(Comparator.comparingLong(Delivery::id))
                .toList();
        for (boolean history : new boolean[] {false, true}) {
            List<Delivery> some = ordered.stream()
                    .filter(delivery -> RowClaim.of(delivery).keepsHistory() == history)
                    .toList();
            if (!some.isEmpty()) {
                node.run("settle", new SimulatedSettle(some, ledger));
            }
        }
    }

    @Override
    public Judged verdict(List<Verdict> verdicts) {
        return node.run("verdict", new SimulatedVerdict(List.copyOf(verdicts), ownership.member(), ledger));
    }

    @Override
    public void register(Set<String> streams) {
        node.run("register", new Register(List.copyOf(streams)));
    }

    @Override
    public Set<Long> mark(List<Delivery> suspects) {
        return node.run("mark", new SimulatedMark(suspects, ownership.member(), ledger));
    }

    @Override
    public void calm(Map<Integer, Long> shards) {
        node.run("calm", new SimulatedCalm(new TreeMap<>(shards), ownership.member(), ledger));
    }

    @Override
    public void close() {}

    /** Sql.REGISTER. */
    private static final class Register extends Statement<Integer> {
        private final List<String> streams;

        Register(List<String> streams) {
            this.streams = streams;
        }

        @Override
        protected void look(Tables snapshot, long now) {}

        @Override
        protected Integer write(Tables tables, long now) {
            for (String stream : streams) {
                if (!tables.streams().containsKey(stream)) {
                    tables.put(new StreamRow(stream, StreamSettings.OnDead.HOLD_KEY, true, false));
                }
            }
            return streams.size();
        }

        @Override
        public String toString() {
            return "register " + streams;
        }
    }
}
