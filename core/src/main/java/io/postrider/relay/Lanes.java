// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a loop has taken and not yet settled: one lane per stream and key, of which only the head is ever under way, so
 * that no event overtakes an earlier one of its key. Counts rows and bytes per stream, so that a slow destination fills
 * its own share and no more. For one thread.
 */
final class Lanes {
    /** An event without a key has a lane of its own. */
    private record LaneKey(String stream, String key) {
        static LaneKey of(Delivery delivery) {
            var event = delivery.event();
            return new LaneKey(
                    event.stream(), event.key().orElseGet(() -> event.id().toString()));
        }
    }

    private static final class Lane {
        final ArrayDeque<Delivery> queue = new ArrayDeque<>(2);
        boolean underWay;
        long sentAt;
    }

    private static final class Load {
        int rows;
        long bytes;
    }

    private final Map<LaneKey, Lane> lanes = new LinkedHashMap<>();
    private final ArrayDeque<Lane> ready = new ArrayDeque<>();
    private final Map<String, Load> loads = new HashMap<>();
    private final Load total = new Load();

    /** Puts a delivery behind the others of its key. */
    void enter(Delivery delivery) {
        Lane lane = lanes.computeIfAbsent(LaneKey.of(delivery), key -> new Lane());
        lane.queue.add(delivery);
        if (lane.queue.size() == 1) {
            ready.add(lane);
        }
        count(delivery, 1);
    }

    /** The next head to be sent, or {@code null}; from now on it is under way. */
    @Nullable
    Delivery next(long now) {
        Lane lane;
        while ((lane = ready.poll()) != null) {
            Delivery head = lane.queue.peek();
            if (head != null && !lane.underWay) {
                lane.underWay = true;
                lane.sentAt = now;
                return head;
            }
        }
        return null;
    }

    /** Whether an earlier event of its key is here, so that this one would have to wait. */
    boolean wouldWait(Delivery delivery) {
        return lanes.containsKey(LaneKey.of(delivery));
    }

    /** Since when this delivery is under way, or −1 if it is not (any more). */
    long sentAt(Delivery delivery) {
        Lane lane = lanes.get(LaneKey.of(delivery));
        return lane != null && lane.underWay && lane.queue.peek() == delivery ? lane.sentAt : -1;
    }

    /** The head has been delivered: the next of its key may go. It counts until {@link #left}. */
    void advance(Delivery head) {
        LaneKey key = LaneKey.of(head);
        Lane lane = lane(key);
        lane.queue.remove();
        lane.underWay = false;
        if (lane.queue.isEmpty()) {
            lanes.remove(key);
        } else {
            ready.add(lane);
        }
    }

    /** The head has failed: returns it with all that waited behind it; they have left the lanes but still count. */
    List<Delivery> clear(Delivery head) {
        Lane lane = lane(LaneKey.of(head));
        lanes.remove(LaneKey.of(head));
        return new ArrayList<>(lane.queue);
    }

    /** Takes out everything of this stream, or of all if {@code null}, that is not under way. Still counts. */
    List<Delivery> unsent(@Nullable String stream) {
        List<Delivery> out = new ArrayList<>();
        lanes.entrySet().removeIf(entry -> {
            if (stream != null && !entry.getKey().stream().equals(stream)) {
                return false;
            }
            Lane lane = entry.getValue();
            Delivery head = lane.underWay ? lane.queue.poll() : null;
            out.addAll(lane.queue);
            lane.queue.clear();
            if (head == null) {
                return true;
            }
            lane.queue.add(head);
            return false;
        });
        return out;
    }

    /** Heads that have been under way since before this. */
    List<Delivery> underWaySinceBefore(long nanos) {
        List<Delivery> late = new ArrayList<>();
        for (Lane lane : lanes.values()) {
            Delivery head = lane.queue.peek();
            if (lane.underWay && head != null && lane.sentAt - nanos < 0) {
                late.add(head);
            }
        }
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

    private Lane lane(LaneKey key) {
        Lane lane = lanes.get(key);
        if (lane == null) {
            throw new IllegalStateException("No lane for " + key);
        }
        return lane;
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
