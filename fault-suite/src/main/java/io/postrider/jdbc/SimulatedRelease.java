// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Sometimes;
import io.postrider.faults.simulator.Statement;
import io.postrider.faults.simulator.Tables;
import io.postrider.faults.simulator.Tables.Care;
import io.postrider.faults.simulator.Tables.ShardRow;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Sql.RELEASE_SHARDS. */
final class SimulatedRelease extends Statement<List<Integer>> {
    private final long me;
    private final Map<Integer, Long> shards;
    private final Ledger ledger;
    private List<Integer> found = List.of();

    SimulatedRelease(long me, Map<Integer, Long> shards, Ledger ledger) {
        this.me = me;
        this.shards = shards;
        this.ledger = ledger;
    }

    @Override
    protected void look(Tables snapshot, long now) {
        found = mine(List.copyOf(shards.keySet()), snapshot);
    }

    @Override
    protected List<Lock> locks() {
        return found.stream().map(shard -> new Lock("shard", shard, false)).toList();
    }

    @Override
    protected void recheck(Tables latest, long now) {
        found = mine(found, latest);
    }

    @Override
    protected List<Integer> write(Tables tables, long now) {
        for (int shard : found) {
            ledger.sometimes(Sometimes.REBALANCE);
            tables.put(new ShardRow(shard, 0, tables.shard(shard).epoch()));
            Care care = tables.care(shard);
            tables.put(
                    shard,
                    care.unclean() < Suspects.CAREFUL_FROM
                            ? Care.NONE
                            : new Care(care.unclean(), care.newest(), Set.of()));
        }
        return found;
    }

    private List<Integer> mine(List<Integer> some, Tables tables) {
        return some.stream()
                .filter(shard -> {
                    ShardRow row = tables.shard(shard);
                    return row.owner() == me && Long.valueOf(row.epoch()).equals(shards.get(shard));
                })
                .toList();
    }

    @Override
    public String toString() {
        return "release as " + me + " " + shards;
    }
}
