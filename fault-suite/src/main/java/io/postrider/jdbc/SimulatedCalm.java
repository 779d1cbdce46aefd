// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Statement;
import io.postrider.faults.simulator.Tables;
import io.postrider.faults.simulator.Tables.Care;
import io.postrider.faults.simulator.Tables.ShardRow;
import java.util.List;
import java.util.Map;

/** Sql.CALM. */
final class SimulatedCalm extends Statement<List<ShardRow>> {
    private final List<ShardRow> claimed;
    private final Ledger ledger;
    private List<ShardRow> found = List.of();

    SimulatedCalm(Map<Integer, Long> shards, long me, Ledger ledger) {
        this.claimed = shards.entrySet().stream()
                .map(entry -> new ShardRow(entry.getKey(), me, entry.getValue()))
                .toList();
        this.ledger = ledger;
    }

    @Override
    protected void look(Tables snapshot, long now) {
        found = asClaimed(claimed, snapshot);
    }

    @Override
    protected List<Lock> locks() {
        return found.stream().map(row -> new Lock("shard", row.shard(), false)).toList();
    }

    @Override
    protected void recheck(Tables latest, long now) {
        found = asClaimed(found, latest);
    }

    @Override
    protected List<ShardRow> write(Tables tables, long now) {
        found.forEach(row -> {
            tables.put(row.shard(), Care.NONE);
            ledger.calm(row);
        });
        return found;
    }

    private static List<ShardRow> asClaimed(List<ShardRow> rows, Tables tables) {
        return rows.stream()
                .filter(row -> row.equals(tables.shard(row.shard())))
                .toList();
    }

    @Override
    public String toString() {
        return "calm " + claimed;
    }
}
