// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Sometimes;
import io.postrider.faults.simulator.Statement;
import io.postrider.faults.simulator.Tables;
import io.postrider.faults.simulator.Tables.RelayRow;
import io.postrider.faults.simulator.Tables.ShardRow;
import io.postrider.jdbc.ShardStore.Seen;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Sql.TAKE_SHARDS: the relays as the snapshot has them, the shards as they are when they are locked. */
final class SimulatedTake extends Statement<Map<Integer, Long>> {
    private final long me;
    private final List<Seen> wanted;
    private final Ledger ledger;
    private Tables seen = new Tables();
    private List<Seen> free = List.of();

    SimulatedTake(long me, List<Seen> wanted, Ledger ledger) {
        this.me = me;
        this.wanted = wanted;
        this.ledger = ledger;
    }

    @Override
    protected void look(Tables snapshot, long now) {
        seen = snapshot;
        RelayRow mine = snapshot.relays().get(me);
        free = mine != null && mine.leaseUntil() > now ? stillFree(wanted, snapshot) : List.of();
    }

    @Override
    protected List<Lock> locks() {
        return free.stream()
                .map(shard -> new Lock("shard", shard.shard(), false))
                .toList();
    }

    @Override
    protected void recheck(Tables latest, long now) {
        free = stillFree(free, latest);
        if (free.size() < wanted.size()) {
            ledger.sometimes(Sometimes.TAKE_REFUSED);
        }
    }

    @Override
    protected Map<Integer, Long> write(Tables tables, long now) {
        Map<Integer, Long> taken = new TreeMap<>();
        for (Seen shard : free) {
            ShardRow row = tables.shard(shard.shard());
            if (row.owner() != 0) {
                ledger.sometimes(Sometimes.TAKEOVER);
            }
            tables.put(new ShardRow(row.shard(), me, row.epoch() + 1));
            taken.put(row.shard(), row.epoch() + 1);
        }
        return taken;
    }

    private List<Seen> stillFree(List<Seen> some, Tables shards) {
        return some.stream()
                .filter(one -> {
                    ShardRow row = shards.shard(one.shard());
                    return row.epoch() == one.epoch()
                            && (row.owner() == 0 || !seen.relays().containsKey(row.owner()));
                })
                .toList();
    }

    @Override
    public String toString() {
        return "take as " + me + " " + wanted;
    }
}
