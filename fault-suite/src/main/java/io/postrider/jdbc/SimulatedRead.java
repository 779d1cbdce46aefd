// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Sometimes;
import io.postrider.faults.simulator.Statement;
import io.postrider.faults.simulator.Tables;
import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.faults.simulator.Tables.RelayRow;
import io.postrider.faults.simulator.Tables.ShardRow;
import io.postrider.faults.simulator.Tables.Status;
import io.postrider.faults.simulator.Tables.StreamRow;
import io.postrider.relay.Delivery;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Sql.READ: sees one snapshot, with the clock of a little later, and locks nothing. */
final class SimulatedRead extends Statement<EventStore.Found> {
    private final EventStore.Query query;
    private final Set<Long> inFlight;
    private final Ownership ownership;
    private final long me;
    private final Ledger ledger;
    private Tables seen = new Tables();
    private long seenAt;

    /** Each shard that is owned, and its place in the order in which they are read. */
    private final Map<Integer, Integer> mine = new HashMap<>();

    private final Map<String, Long> held = new HashMap<>();

    SimulatedRead(EventStore.Query query, Ownership ownership, Ledger ledger) {
        this.query = query;
        this.inFlight = new HashSet<>(query.inFlight());
        this.ownership = ownership;
        this.me = ownership.member();
        this.ledger = ledger;
    }

    @Override
    protected void look(Tables snapshot, long now) {
        seen = snapshot;
        seenAt = now;
    }

    /** When its snapshot was taken. */
    long seenAt() {
        return seenAt;
    }

    @Override
    protected EventStore.Found write(Tables tables, long now) {
        findMine(now);
        if (seen.events().isEmpty()) {
            Set<Integer> owned = new HashSet<>(mine.keySet());
            return new EventStore.Found(List.of(), owned, Set.of(), Set.of(), Optional.empty(), false);
        }
        Set<Integer> holding = findHeld();
        List<EventRow> due = due(now);
        List<EventRow> swept = query.orPart() && holding.isEmpty() && due.isEmpty() ? swept() : List.of();
        List<EventRow> candidates = new ArrayList<>(swept);
        if (swept.isEmpty()) {
            candidates.addAll(olderThanHeld());
            candidates.addAll(due);
            candidates.addAll(pending());
        }
        Set<String> newStreams = new HashSet<>();
        List<Delivery> deliveries = new ArrayList<>();
        long bytes = 0;
        for (EventRow row : candidates.subList(0, Math.min(candidates.size(), query.rows()))) {
            if (bytes > 0 && bytes >= query.bytes()) {
                break;
            }
            bytes += row.event().payloadSize();
            deliveries.add(delivery(row));
            if (stream(row) == null) {
                newStreams.add(row.event().stream());
            }
        }
        deliveries.sort(Comparator.comparingLong(Delivery::id));
        return new EventStore.Found(
                deliveries, new HashSet<>(mine.keySet()), holding, newStreams, nextDue(now), !swept.isEmpty());
    }

    private void findMine(long now) {
        RelayRow relay = seen.relays().get(me);
        if (relay == null) {
            return;
        }
        if (relay.leaseUntil() <= now) {
            ledger.leaseRanOut(me);
            return;
        }
        int first = query.shards().keySet().iterator().next();
        query.shards().forEach((shard, epoch) -> {
            ShardRow row = seen.shards().get(shard);
            if (row != null && row.owner() == me && row.epoch() == epoch) {
                mine.put(shard, (shard - first) & 255);
            }
        });
    }

    private Set<Integer> findHeld() {
        Set<Integer> holding = new HashSet<>();
        for (EventRow row : seen.events().values()) {
            if (row.holds() && row.event().key().isPresent() && mine.containsKey(row.shard())) {
                held.putIfAbsent(row.place(), row.id());
                holding.add(row.shard());
            }
        }
        if (!held.isEmpty()) {
            ledger.sometimes(Sometimes.KEY_HELD);
        }
        return holding;
    }

    private List<EventRow> olderThanHeld() {
        return candidates(Status.PENDING, row -> heldId(row, 0) > row.id());
    }

    private List<EventRow> due(long now) {
        List<EventRow> due = candidates(Status.WAITING, row -> row.dueAt() <= now && heldId(row, row.id()) >= row.id());
        due.sort(Comparator.comparingInt(this::place)
                .thenComparingLong(EventRow::dueAt)
                .thenComparingLong(EventRow::id));
        return cut(due, row -> "" + row.shard());
    }

    private List<EventRow> pending() {
        List<EventRow> pending = candidates(Status.PENDING, row -> heldId(row, 0) == 0);
        pending.sort(Comparator.comparingInt(this::place)
                .thenComparing(row -> row.event().stream())
                .thenComparingLong(EventRow::id));
        return cut(pending, row -> row.shard() + row.event().stream());
    }

    /** SweepSql.SWEEP, of a third of what is there of the first one's stream: the oldest, whatever their shards. Real ones need a backlog. */
    private List<EventRow> swept() {
        List<EventRow> pending = candidates(Status.PENDING, row -> true);
        if (pending.isEmpty() || pending.get(0).id() % 2 == 0) {
            return List.of();
        }
        ledger.sometimes(Sometimes.BACKLOG_SWEPT);
        String stream = pending.get(0).event().stream();
        pending.removeIf(row -> !row.event().stream().equals(stream));
        pending.sort(Comparator.comparingLong(EventRow::id));
        return pending.subList(0, 1 + pending.size() / 3);
    }

    private List<EventRow> candidates(Status status, Predicate<EventRow> filter) {
        List<EventRow> found = new ArrayList<>();
        for (EventRow row : seen.events().values()) {
            if (row.status() == status
                    && mine.containsKey(row.shard())
                    && !inFlight.contains(row.id())
                    && !isBarred(row)
                    && filter.test(row)) {
                found.add(row);
            }
        }
        return found;
    }

    /** At most so many of one place. */
    private List<EventRow> cut(List<EventRow> rows, Function<EventRow, String> of) {
        Map<String, Integer> depths = new HashMap<>();
        rows.removeIf(row -> depths.merge(of.apply(row), 1, Integer::sum) > query.depth());
        return rows;
    }

    /** The oldest row that holds this one's key, or something else if there is none. */
    private long heldId(EventRow row, long otherwise) {
        return held.isEmpty() ? otherwise : held.getOrDefault(row.place(), otherwise);
    }

    private int place(EventRow row) {
        return mine.getOrDefault(row.shard(), 0);
    }

    private boolean isBarred(EventRow row) {
        String stream = row.event().stream();
        StreamRow known = stream(row);
        return query.without().contains(stream)
                || (query.only() != null && !stream.equals(query.only()))
                || (known != null && known.paused());
    }

    private @Nullable StreamRow stream(EventRow row) {
        return seen.streams().get(row.event().stream());
    }

    private Delivery delivery(EventRow row) {
        StreamRow stream = stream(row);
        long epoch = seen.shard(row.shard()).epoch();
        boolean keepsHistory = stream == null || stream.keepsHistory();
        ShardClaim claim = new ShardClaim(row.shard(), epoch, keepsHistory, seen.deaths(row.id()), ownership);
        return new Delivery(row.id(), row.revision(), row.attempts(), row.event(), claim);
    }

    private Optional<Long> nextDue(long now) {
        return seen.events().values().stream()
                .filter(row -> row.status() == Status.WAITING && mine.containsKey(row.shard()) && row.dueAt() > now)
                .map(row -> (row.dueAt() - now) / 1000)
                .min(Comparator.naturalOrder());
    }

    @Override
    public String toString() {
        return "read " + query.shards() + " without " + inFlight + " " + query.without()
                + (query.only() == null ? "" : " only " + query.only());
    }
}
