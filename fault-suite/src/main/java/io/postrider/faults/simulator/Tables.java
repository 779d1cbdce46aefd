// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.StreamSettings.OnDead;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/** The committed rows at one moment. A change is made to a copy, so whoever has an older one has a snapshot. */
public final class Tables {
    /** What a row of outbox_event can be here. */
    public enum Status {
        PENDING,
        WAITING,
        DEAD
    }

    /** A row of outbox_event; lockedBy 0: nobody. */
    public record EventRow(
            long id,
            OutboxEvent event,
            int shard,
            Status status,
            boolean holds,
            int revision,
            long dueAt,
            int attempts,
            long lockedBy) {

        /** Whether this relay may send it because it was inserted with a lease, which lasts. */
        public boolean isLeasedTo(long relay, long now) {
            return lockedBy != 0 && lockedBy == relay && dueAt > now;
        }

        public String place() {
            return event.stream() + "/" + event.key().orElse("");
        }
    }

    /** A row of outbox_shard; owner 0: nobody. */
    public record ShardRow(int shard, long owner, long epoch) {}

    /** The columns unclean, newest and suspects of a row of outbox_shard. */
    public record Care(int unclean, long newest, Set<Long> suspects) {
        public static final Care NONE = new Care(0, 0, Set.of());
    }

    /** A row of outbox_relay. */
    public record RelayRow(long id, String wants, long ttl, long leaseUntil, long beat, Set<String> closed) {}

    /** A row of outbox_stream. */
    public record StreamRow(String stream, OnDead onDead, boolean keepsHistory, boolean paused) {}

    private final Rows<Long, EventRow> events;
    private final Rows<Integer, ShardRow> shards;
    private final Rows<Integer, Care> cares;
    private final Rows<Long, Integer> deaths;
    private final Rows<Long, RelayRow> relays;
    private final Rows<String, StreamRow> streams;

    public Tables() {
        events = new Rows<>();
        shards = new Rows<>();
        cares = new Rows<>();
        deaths = new Rows<>();
        relays = new Rows<>();
        streams = new Rows<>();
    }

    private Tables(Tables from) {
        events = new Rows<>(from.events);
        shards = new Rows<>(from.shards);
        cares = new Rows<>(from.cares);
        deaths = new Rows<>(from.deaths);
        relays = new Rows<>(from.relays);
        streams = new Rows<>(from.streams);
    }

    /** Shared with a copy until the first change. */
    private static final class Rows<K, V> {
        private NavigableMap<K, V> rows = new TreeMap<>();
        private boolean shared;

        Rows() {}

        Rows(Rows<K, V> from) {
            rows = from.rows;
            shared = true;
            from.shared = true;
        }

        NavigableMap<K, V> toChange() {
            if (shared) {
                rows = new TreeMap<>(rows);
                shared = false;
            }
            return rows;
        }
    }

    /** To be read only, as the other three. */
    public NavigableMap<Long, EventRow> events() {
        return events.rows;
    }

    public NavigableMap<Integer, ShardRow> shards() {
        return shards.rows;
    }

    public NavigableMap<Long, RelayRow> relays() {
        return relays.rows;
    }

    public NavigableMap<String, StreamRow> streams() {
        return streams.rows;
    }

    /** One that is there for certain. */
    public EventRow event(long id) {
        return Objects.requireNonNull(events.rows.get(id), "event");
    }

    /** One that is there for certain. */
    public ShardRow shard(int shard) {
        return Objects.requireNonNull(shards.rows.get(shard), "shard");
    }

    public Care care(int shard) {
        return cares.rows.getOrDefault(shard, Care.NONE);
    }

    public void put(int shard, Care care) {
        cares.toChange().put(shard, care);
    }

    /** The shards of this owner that have suspects. */
    public List<Integer> suspected(long owner) {
        return cares.rows.entrySet().stream()
                .filter(entry -> !entry.getValue().suspects().isEmpty()
                        && shard(entry.getKey()).owner() == owner)
                .map(Map.Entry::getKey)
                .toList();
    }

    /** The column unclean_count of a row of outbox_event. */
    public int deaths(long id) {
        return deaths.rows.getOrDefault(id, 0);
    }

    public void deaths(long id, int count) {
        deaths.toChange().put(id, count);
    }

    public void put(EventRow row) {
        events.toChange().put(row.id(), row);
    }

    public void remove(EventRow row) {
        events.toChange().remove(row.id());
    }

    public void put(ShardRow row) {
        shards.toChange().put(row.shard(), row);
    }

    public void put(RelayRow row) {
        relays.toChange().put(row.id(), row);
    }

    /** Returns whether it was there. */
    public boolean removeRelay(long id) {
        return relays.toChange().remove(id) != null;
    }

    public void put(StreamRow row) {
        streams.toChange().put(row.stream(), row);
    }

    /** Shares all that is not changed. */
    Tables copy() {
        return new Tables(this);
    }
}
