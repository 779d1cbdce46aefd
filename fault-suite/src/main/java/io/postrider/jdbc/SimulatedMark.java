// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Sometimes;
import io.postrider.faults.simulator.Statement;
import io.postrider.faults.simulator.Tables;
import io.postrider.faults.simulator.Tables.Care;
import io.postrider.faults.simulator.Tables.ShardRow;
import io.postrider.relay.Delivery;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Sql.MARK: moves the marks of a relay, under the fences of the shards that they move to. */
final class SimulatedMark extends Statement<Set<Long>> {
    private final Map<ShardRow, List<Delivery>> suspects = new LinkedHashMap<>();
    private final long me;
    private final Ledger ledger;
    private final Map<Long, Integer> deaths = new HashMap<>();
    private List<Integer> found = List.of();

    SimulatedMark(List<Delivery> suspects, long me, Ledger ledger) {
        suspects.forEach(each -> {
            ShardClaim claim = ShardClaim.of(each);
            ShardRow owned = new ShardRow(claim.shard(), me, claim.epoch());
            this.suspects.computeIfAbsent(owned, same -> new ArrayList<>()).add(each);
        });
        this.me = me;
        this.ledger = ledger;
    }

    private List<Delivery> all() {
        return suspects.values().stream().flatMap(List::stream).toList();
    }

    @Override
    protected void look(Tables snapshot, long now) {
        TreeSet<Integer> mine = new TreeSet<>(snapshot.suspected(me));
        suspects.keySet().stream()
                .filter(claimed -> claimed.equals(snapshot.shard(claimed.shard())))
                .forEach(claimed -> mine.add(claimed.shard()));
        found = List.copyOf(mine);
        all().stream()
                .filter(each -> snapshot.events().containsKey(each.id()))
                .forEach(each -> deaths.put(each.id(), snapshot.deaths(each.id())));
    }

    @Override
    protected List<Lock> locks() {
        return found.stream().map(shard -> new Lock("shard", shard, false)).toList();
    }

    @Override
    protected void recheck(Tables latest, long now) {
        found = found.stream()
                .filter(shard -> latest.shard(shard).owner() == me
                        && (!latest.care(shard).suspects().isEmpty() || suspects.containsKey(latest.shard(shard))))
                .toList();
    }

    @Override
    protected Set<Long> write(Tables tables, long now) {
        Set<Long> marked = new HashSet<>();
        for (int shard : found) {
            ShardRow owned = tables.shard(shard);
            List<Delivery> here = suspects.getOrDefault(owned, List.of());
            Care care = tables.care(shard);
            Set<Long> ids = here.stream().map(Delivery::id).collect(Collectors.toSet());
            tables.put(shard, new Care(care.unclean(), care.newest(), ids));
            for (Delivery suspect : here) {
                ledger.marked(suspect.event(), owned, deaths.getOrDefault(suspect.id(), 0));
                marked.add(suspect.id());
            }
        }
        if (marked.size() < all().size()) {
            ledger.sometimes(Sometimes.ZOMBIE_MARK_REFUSED);
        }
        marked.retainAll(deaths.keySet());
        return marked;
    }

    @Override
    public String toString() {
        return "mark " + all().stream().map(Delivery::id).toList() + " under " + suspects.keySet();
    }
}
