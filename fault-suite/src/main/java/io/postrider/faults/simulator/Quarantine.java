// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.faults.simulator.Ledger.Entry;
import io.postrider.faults.simulator.Tables.ShardRow;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;

/** Knows which shards are to be treated with care and which events were marked, and checks that it is done so. */
final class Quarantine {
    private static final int DEATHS = 5;
    private static final int MOST_AT_ONCE = 256;
    private static final int MOST_AFTER_AN_END = 16;

    private final World world;
    private final Set<ShardRow> careful = new HashSet<>();
    private final Map<Entry, Set<ShardRow>> marks = new HashMap<>();
    private final Map<Entry, Integer> told = new HashMap<>();
    private final Map<Node, Set<Send>> suspects = new HashMap<>();

    Quarantine(World world) {
        this.world = world;
    }

    /** Somebody owns this shard now whose owners before it ended without a release. */
    void careful(ShardRow owned) {
        careful.add(owned);
    }

    void calm(ShardRow owned) {
        world.count(Sometimes.SHARD_CALM);
        careful.remove(owned);
    }

    /** @param deaths how many have ended with it so far */
    void marked(Entry entry, ShardRow owned, int deaths) {
        world.count(Sometimes.SUSPECT_MARKED);
        told.put(entry, deaths);
        marks.computeIfAbsent(entry, same -> new HashSet<>()).add(owned);
    }

    /** What is sent from shards to be careful with is marked, and not many at a time; the fewer, the more relays ended with them. */
    void sending(Send send, ShardRow claim) {
        if (!careful.contains(claim)) {
            return;
        }
        if (!marks.getOrDefault(send.entry, Set.of()).contains(claim)) {
            throw new Violation("I8 marked", send.node + " sends " + send.entry + " without a mark");
        }
        Set<Send> beside = suspects.computeIfAbsent(send.node, same -> new HashSet<>());
        beside.removeIf(each -> each.isAnswered() || world.now() - each.at >= Mood.ANSWER_TIMEOUT.toNanos());
        int most = beside.stream().mapToInt(this::mostWith).reduce(mostWith(send), Math::min);
        if (beside.size() >= most) {
            throw new Violation(
                    "I8 suspects",
                    send.node + " sends " + send.entry + " beside "
                            + beside.stream().map(each -> each.entry).toList());
        }
        if (!beside.isEmpty()) {
            world.count(Sometimes.SUSPECTS_BESIDE_EACH_OTHER);
        }
        if (most == 1) {
            world.count(Sometimes.SUSPECT_ALONE);
        }
        beside.add(send);
    }

    private int mostWith(Send send) {
        int deaths = told.getOrDefault(send.entry, 0);
        return deaths == 0 ? MOST_AT_ONCE : deaths == 1 ? MOST_AFTER_AN_END : 1;
    }

    /** From now on only the marks that stand can count against it. */
    void requeued(Entry entry, Tables tables) {
        marks.getOrDefault(entry, new HashSet<>())
                .removeIf(owned -> !owned.equals(tables.shard(owned.shard()))
                        || !tables.care(owned.shard()).suspects().contains(entry.id));
    }

    /** @param ended whether this member has ended without a release */
    void quarantined(Entry entry, LongPredicate ended) {
        world.count(Sometimes.EVENT_QUARANTINED);
        long deaths = marks.getOrDefault(entry, Set.of()).stream()
                .mapToLong(ShardRow::owner)
                .distinct()
                .filter(ended)
                .count();
        if (deaths < DEATHS) {
            throw new Violation("I8 deaths", entry + " is dead, and only " + deaths + " relays ended with it marked");
        }
    }
}
