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

    private NavigableMap<Long, EventRow> events = new TreeMap<>();
    private NavigableMap<Integer, ShardRow> shards = new TreeMap<>();
    private NavigableMap<Integer, Care> cares = new TreeMap<>();
    private NavigableMap<Long, Integer> deaths = new TreeMap<>();
    private NavigableMap<Long, RelayRow> relays = new TreeMap<>();
    private NavigableMap<String, StreamRow> streams = new TreeMap<>();

    /** To be read only, as the other three. */
    public NavigableMap<Long, EventRow> events() {
        return events;
    }

    public NavigableMap<Integer, ShardRow> shards() {
        return shards;
    }

    public NavigableMap<Long, RelayRow> relays() {
        return relays;
    }

    public NavigableMap<String, StreamRow> streams() {
        return streams;
    }

    /** One that is there for certain. */
    public EventRow event(long id) {
        return Objects.requireNonNull(events.get(id), "event");
    }

    /** One that is there for certain. */
    public ShardRow shard(int shard) {
        return Objects.requireNonNull(shards.get(shard), "shard");
    }

    public Care care(int shard) {
        return cares.getOrDefault(shard, Care.NONE);
    }

    public void put(int shard, Care care) {
        cares = new TreeMap<>(cares);
        cares.put(shard, care);
    }

    /** The shards of this owner that have suspects. */
    public List<Integer> suspected(long owner) {
        return cares.entrySet().stream()
                .filter(entry -> !entry.getValue().suspects().isEmpty()
                        && shard(entry.getKey()).owner() == owner)
                .map(Map.Entry::getKey)
                .toList();
    }

    /** The column unclean_count of a row of outbox_event. */
    public int deaths(long id) {
        return deaths.getOrDefault(id, 0);
    }

    public void deaths(long id, int count) {
        deaths = new TreeMap<>(deaths);
        deaths.put(id, count);
    }

    public void put(EventRow row) {
        events = new TreeMap<>(events);
        events.put(row.id(), row);
    }

    public void remove(EventRow row) {
        events = new TreeMap<>(events);
        events.remove(row.id());
    }

    public void put(ShardRow row) {
        shards = new TreeMap<>(shards);
        shards.put(row.shard(), row);
    }

    public void put(RelayRow row) {
        relays = new TreeMap<>(relays);
        relays.put(row.id(), row);
    }

    /** Returns whether it was there. */
    public boolean removeRelay(long id) {
        relays = new TreeMap<>(relays);
        return relays.remove(id) != null;
    }

    public void put(StreamRow row) {
        streams = new TreeMap<>(streams);
        streams.put(row.stream(), row);
    }

    /** Shares all that is not changed. */
    Tables copy() {
        Tables copy = new Tables();
        copy.events = events;
        copy.shards = shards;
        copy.relays = relays;
        copy.streams = streams;
        copy.cares = cares;
        copy.deaths = deaths;
        return copy;
    }
}
