// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Sometimes;
import io.postrider.faults.simulator.Statement;
import io.postrider.faults.simulator.Tables;
import io.postrider.faults.simulator.Tables.Care;
import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.faults.simulator.Tables.RelayRow;
import io.postrider.faults.simulator.Tables.ShardRow;
import io.postrider.faults.simulator.Tables.Status;
import io.postrider.jdbc.ShardStore.Seen;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Sql.TAKE_SHARDS: the relays as the snapshot has them, the shards as they are when they are locked. */
final class SimulatedTake extends Statement<ShardStore.Won> {
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
    protected ShardStore.Won write(Tables tables, long now) {
        Map<Integer, Long> epochs = new TreeMap<>();
        Map<Integer, ShardStore.Left> left = new TreeMap<>();
        for (Seen shard : free) {
            ShardRow row = tables.shard(shard.shard());
            Care care = tables.care(row.shard());
            int unclean = care.unclean();
            long newest = care.newest();
            if (row.owner() != 0) {
                ledger.sometimes(Sometimes.TAKEOVER);
                care.suspects().forEach(suspect -> count(tables, suspect));
                if (unclean == 0) {
                    newest = seen.events().isEmpty() ? 0 : seen.events().lastKey();
                }
                unclean++;
            }
            ShardRow taken = new ShardRow(row.shard(), me, row.epoch() + 1);
            tables.put(taken);
            tables.put(row.shard(), new Care(unclean, newest, Set.of()));
            epochs.put(row.shard(), taken.epoch());
            if (unclean >= Suspects.CAREFUL_FROM) {
                ledger.careful(taken);
            }
            if (unclean > 0) {
                left.put(row.shard(), new ShardStore.Left(unclean, newest));
            }
        }
        return new ShardStore.Won(epochs, left);
    }

    /** One that somebody has locked would be passed over; here it is counted, and what he writes is written too. */
    private void count(Tables tables, long suspect) {
        EventRow row = tables.events().get(suspect);
        if (row != null && row.status() != Status.DEAD) {
            ledger.sometimes(Sometimes.SUSPECT_COUNTED);
            tables.deaths(suspect, tables.deaths(suspect) + 1);
        }
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
