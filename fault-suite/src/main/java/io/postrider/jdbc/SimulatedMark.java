// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Sometimes;
import io.postrider.faults.simulator.Statement;
import io.postrider.faults.simulator.Tables;
import io.postrider.faults.simulator.Tables.Care;
import io.postrider.faults.simulator.Tables.ShardRow;
import io.postrider.relay.Delivery;
import java.util.List;
import java.util.OptionalInt;
import java.util.TreeSet;

/** Sql.MARK: moves the one mark of a relay, under the fence of the shard that it moves to. */
final class SimulatedMark extends Statement<OptionalInt> {
    private final Delivery suspect;
    private final ShardRow claimed;
    private final Ledger ledger;
    private List<Integer> found = List.of();
    private int deaths = -1;

    SimulatedMark(Delivery suspect, long me, Ledger ledger) {
        ShardClaim claim = ShardClaim.of(suspect);
        this.suspect = suspect;
        this.claimed = new ShardRow(claim.shard(), me, claim.epoch());
        this.ledger = ledger;
    }

    @Override
    protected void look(Tables snapshot, long now) {
        TreeSet<Integer> mine = new TreeSet<>(snapshot.suspected(claimed.owner()));
        if (claimed.equals(snapshot.shard(claimed.shard()))) {
            mine.add(claimed.shard());
        }
        found = List.copyOf(mine);
        deaths = snapshot.events().containsKey(suspect.id()) ? snapshot.deaths(suspect.id()) : -1;
    }

    @Override
    protected List<Lock> locks() {
        return found.stream().map(shard -> new Lock("shard", shard, false)).toList();
    }

    @Override
    protected void recheck(Tables latest, long now) {
        found = found.stream()
                .filter(shard -> latest.shard(shard).owner() == claimed.owner()
                        && (latest.care(shard).suspect() != 0 || claimed.equals(latest.shard(shard))))
                .toList();
    }

    @Override
    protected OptionalInt write(Tables tables, long now) {
        boolean marked = false;
        for (int shard : found) {
            boolean here = claimed.equals(tables.shard(shard));
            tables.put(shard, new Care(tables.care(shard).unclean(), here ? suspect.id() : 0));
            marked |= here;
        }
        if (!marked) {
            ledger.sometimes(Sometimes.ZOMBIE_MARK_REFUSED);
            return OptionalInt.empty();
        }
        ledger.marked(suspect.event(), claimed);
        return deaths < 0 ? OptionalInt.empty() : OptionalInt.of(deaths);
    }

    @Override
    public String toString() {
        return "mark " + suspect.id() + " under " + claimed;
    }
}
