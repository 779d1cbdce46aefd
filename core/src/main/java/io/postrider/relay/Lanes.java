// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a loop has taken and not yet settled: one {@link Lane} per stream and key, so that no event overtakes an earlier
 * one of its key. Counts rows and bytes per stream, so that a slow destination fills its own share and no more. For one
 * thread.
 */
final class Lanes {
    /** @param key the events' key, or the id of an event that has a lane of its own */
    private record LaneKey(String stream, Object key) {}

    private static final class Load {
        int rows;
        long bytes;
    }

    /** With more, a produce request is not filled better any more. */
    private static final int MOST_OF_A_KEY = 64;

    private final Publisher publisher;
    private final boolean keepsOrder;
    private final Map<LaneKey, Lane> lanes = new LinkedHashMap<>();
    private final ArrayDeque<Lane> ready = new ArrayDeque<>();
    private final Map<String, Load> loads = new HashMap<>();
    private final Load total = new Load();

    /** @param keepsOrder if not, every event has a lane of its own */
    Lanes(Publisher publisher, boolean keepsOrder) {
        this.publisher = publisher;
        this.keepsOrder = keepsOrder;
    }

    /** Puts a delivery behind the others of its key. */
    void enter(Delivery delivery) {
        Lane lane = lanes.computeIfAbsent(
                keyOf(delivery),
                key -> newLane(key, keepsOrder && delivery.event().key().isPresent()));
        boolean couldGo = lane.mayGo();
        lane.add(delivery);
        if (!couldGo) {
            readyIfItMayGo(lane);
        }
        count(delivery, 1);
    }

    private LaneKey keyOf(Delivery delivery) {
        OutboxEvent event = delivery.event();
        return new LaneKey(
                event.stream(),
                keepsOrder && event.key().isPresent() ? event.key().get() : event.id());
    }

    private Lane newLane(LaneKey key, boolean keyed) {
        return (keyed ? publisher.run() : Optional.<Publisher.Run>empty())
                .map(run -> new Lane(key, delivery -> run.publish(delivery.event()), MOST_OF_A_KEY))
                .orElseGet(() -> new Lane(key, publisher::deliver, 1));
    }

    /** The next one to be sent, or {@code null}; from now on it is under way. */
    @Nullable
    Departure next(long now) {
        Lane lane;
        while ((lane = ready.poll()) != null) {
            if (lane.mayGo()) {
                Departure next = lane.go(now);
                readyIfItMayGo(lane);
                return next;
            }
        }
        return null;
    }

    /** Whether an earlier event of its key is here, so that this one would have to wait. */
    boolean wouldWait(Delivery delivery) {
        return lanes.containsKey(keyOf(delivery));
    }

    /**
     * It has been delivered: another of its key may go. Returns how its lane ended, if one behind it had failed before. It
     * counts until {@link #left}, and so does all that a lane leaves behind.
     */
    Lane.@Nullable Ended advance(Departure departure) {
        departure.lane().answered(departure);
        return endOrGoOn(departure);
    }

    /** It has failed: nothing more of its key is sent. Returns how its lane ended, once nothing of it is under way. */
    Lane.@Nullable Ended fail(Departure departure, Failure failure) {
        departure.lane().failed(departure, failure);
        return endOrGoOn(departure);
    }

    /** It was not sent after all: returns it with all that waited behind it; they have left the lanes but still count. */
    List<Delivery> takeBack(Departure departure) {
        Lane lane = departure.lane();
        lane.answered(departure);
        List<Delivery> back = new ArrayList<>(List.of(departure.delivery()));
        back.addAll(lane.takeUnsent());
        if (lane.isOver()) {
            lanes.remove(lane.key());
        }
        return back;
    }

    private Lane.@Nullable Ended endOrGoOn(Departure departure) {
        Lane lane = departure.lane();
        if (lane.isOver()) {
            lanes.remove(lane.key());
            return lane.ended();
        }
        readyIfItMayGo(lane);
        return null;
    }

    private void readyIfItMayGo(Lane lane) {
        if (lane.mayGo()) {
            ready.add(lane);
        }
    }

    /** Takes out everything of this stream, or of all if {@code null}, that is not under way. Still counts. */
    List<Delivery> unsent(@Nullable String stream) {
        List<Delivery> out = new ArrayList<>();
        lanes.entrySet().removeIf(entry -> {
            if (stream != null && !entry.getKey().stream().equals(stream)) {
                return false;
            }
            out.addAll(entry.getValue().takeUnsent());
            return entry.getValue().isOver();
        });
        return out;
    }

    /** What has been under way since before this. */
    List<Departure> underWaySinceBefore(long nanos) {
        List<Departure> late = new ArrayList<>();
        lanes.values().forEach(lane -> lane.underWaySinceBefore(nanos, late));
        return late;
    }

    /** Settled, judged or released: no longer counts. */
    void left(Delivery delivery) {
        count(delivery, -1);
    }

    /** An answer came for what had been given up: it counts until it is written. */
    void countAgain(Delivery delivery) {
        count(delivery, 1);
    }

    boolean isEmpty() {
        return lanes.isEmpty();
    }

    /** How many lanes have something that may be sent, and is not, roughly. */
    int waiting() {
        return ready.size();
    }

    /** Everything that counts, in rows. */
    int rows() {
        return total.rows;
    }

    long bytes() {
        return total.bytes;
    }

    /** Streams that have filled more than this share of what one stream may have. */
    Set<String> fullerThan(int rows, long bytes) {
        Set<String> full = new HashSet<>();
        loads.forEach((stream, load) -> {
            if (load.rows > rows || load.bytes > bytes) {
                full.add(stream);
            }
        });
        return full;
    }

    /** How many rows of each stream count. */
    Map<String, Integer> load() {
        Map<String, Integer> rows = new HashMap<>();
        loads.forEach((stream, load) -> rows.put(stream, load.rows));
        return rows;
    }

    private void count(Delivery delivery, int sign) {
        String stream = delivery.event().stream();
        Load load = loads.computeIfAbsent(stream, s -> new Load());
        load.rows += sign;
        load.bytes += sign * delivery.weight();
        total.rows += sign;
        total.bytes += sign * delivery.weight();
        if (load.rows == 0) {
            loads.remove(stream);
        }
    }
}
