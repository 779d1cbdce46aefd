// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import io.postrider.relay.FeedException;
import io.postrider.relay.Verdict;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/** A table with events of stream s, each with a key of its own. */
final class CarefulTable implements EventStore {
    private final Ownership ownership;
    final TreeMap<Long, Integer> shardOf = new TreeMap<>();
    final Map<Long, Integer> deaths = new HashMap<>();
    final List<Long> marked = new ArrayList<>();
    final List<Integer> calmed = new ArrayList<>();
    final List<String> statements = new ArrayList<>();
    boolean refusesMarks;
    boolean failsMarks;
    long epoch = 1;
    /** Of the last read. */
    int depth;

    CarefulTable(Ownership ownership) {
        this.ownership = ownership;
    }

    void put(int shard, long... ids) {
        for (long id : ids) {
            shardOf.put(id, shard);
        }
    }

    @Override
    public Found read(Query query) {
        statements.add("read");
        depth = query.depth();
        List<Delivery> found = new ArrayList<>();
        Map<Integer, Integer> depths = new HashMap<>();
        boolean barred = query.without().contains("s")
                || (query.only() != null && !query.only().equals("s"));
        shardOf.forEach((id, shard) -> {
            boolean there =
                    query.shards().containsKey(shard) && !query.inFlight().contains(id);
            boolean room = found.size() < query.rows() && found.size() < query.bytes();
            if (!barred && room && there && depths.merge(shard, 1, Integer::sum) <= query.depth()) {
                found.add(delivery(id, shard));
            }
        });
        Set<Integer> owned = new HashSet<>(query.shards().keySet());
        return new Found(found, owned, Set.of(), Set.of(), Optional.empty(), false);
    }

    private Delivery delivery(long id, int shard) {
        OutboxEvent event = OutboxEvent.of("s", "T")
                .id(new UUID(0, id))
                .key("k" + id)
                .payload(new byte[1])
                .build();
        return new Delivery(
                id, 0, 0, event, new ShardClaim(shard, epoch, false, deaths.getOrDefault(id, 0), ownership));
    }

    @Override
    public void settle(List<Delivery> published) {
        published.forEach(delivery -> shardOf.remove(delivery.id()));
    }

    @Override
    public Judged verdict(List<Verdict> verdicts) {
        Set<Long> written = new HashSet<>();
        Set<Integer> owned = new HashSet<>();
        for (Verdict verdict : verdicts) {
            written.add(verdict.delivery().id());
            owned.add(ShardClaim.of(verdict.delivery()).shard());
            shardOf.remove(verdict.delivery().id());
        }
        return new Judged(written, owned);
    }

    @Override
    public void register(Set<String> streams) {}

    @Override
    public Set<Long> mark(List<Delivery> suspects) {
        statements.add("mark");
        if (failsMarks) {
            throw new FeedException("no", new IllegalStateException());
        }
        if (refusesMarks) {
            return Set.of();
        }
        List<Long> ids = suspects.stream().map(Delivery::id).toList();
        marked.addAll(ids);
        return Set.copyOf(ids);
    }

    @Override
    public void calm(Map<Integer, Long> shards) {
        statements.add("calm");
        calmed.addAll(shards.keySet());
    }

    @Override
    public void close() {}
}
