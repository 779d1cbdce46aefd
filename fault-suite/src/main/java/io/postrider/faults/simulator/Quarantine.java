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
    private static final int DEATHS = 3;

    private final World world;
    private final Set<ShardRow> careful = new HashSet<>();
    private final Map<Entry, Set<ShardRow>> marks = new HashMap<>();
    private final Map<Node, Send> suspects = new HashMap<>();

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

    void marked(Entry entry, ShardRow owned) {
        world.count(Sometimes.SUSPECT_MARKED);
        marks.computeIfAbsent(entry, same -> new HashSet<>()).add(owned);
    }

    /** Of a shard to be careful with, one event at a time is sent in a process, and it is marked. */
    void sending(Send send, ShardRow claim) {
        if (!careful.contains(claim)) {
            return;
        }
        if (!marks.getOrDefault(send.entry, Set.of()).contains(claim)) {
            throw new Violation("I8 marked", send.node + " sends " + send.entry + " without a mark");
        }
        Send last = suspects.put(send.node, send);
        boolean underWay = last != null && !last.isAnswered() && world.now() - last.at < Mood.ANSWER_TIMEOUT.toNanos();
        if (underWay) {
            throw new Violation("I8 one suspect", send.node + " sends " + send.entry + " beside " + last.entry);
        }
    }

    /** From now on only the marks that stand can count against it. */
    void requeued(Entry entry, Tables tables) {
        marks.getOrDefault(entry, new HashSet<>())
                .removeIf(owned -> !owned.equals(tables.shard(owned.shard()))
                        || tables.care(owned.shard()).suspect() != entry.id);
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
