// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.LongPredicate;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * One partition for as long as it is this consumer's: what has come of it and is not finished, in its order. What may be
 * committed is the offset of the oldest that is not finished. Guarded by its {@link Arrivals}, but for {@link #mayStart}.
 */
final class Assignment {
    /** So many of a key are handed out: few of many keys go faster than many of few. */
    private static final int DEPTH = 4;

    private static final long MOST_BYTES = 16L << 20;

    private final TopicPartition partition;
    private final LongPredicate alive;
    private final ArrayDeque<Arrival> arrivals = new ArrayDeque<>();
    private volatile boolean revoked;
    private volatile boolean gone;
    private long bytes;
    private long next = -1;
    private long committed = -1;

    /** @param alive whether the consumer surely has its place in its group at this reading of the ticker */
    Assignment(TopicPartition partition, LongPredicate alive) {
        this.partition = partition;
        this.alive = alive;
    }

    TopicPartition partition() {
        return partition;
    }

    boolean mayStart(long nanos) {
        return !revoked && alive.test(nanos);
    }

    boolean isRevoked() {
        return revoked;
    }

    /** From here on nothing is handed out, and nothing that was may be started. */
    void revoke() {
        revoked = true;
    }

    /** Whether it is another's by now. Between revoked and this, what has ended can still be written and committed. */
    boolean isGone() {
        return gone;
    }

    void go() {
        gone = true;
    }

    void add(Arrival arrival) {
        // Where the first record begins is where the group stands: nothing is to be committed before one is finished.
        committed = next < 0 ? arrival.offset() : committed;
        arrivals.add(arrival);
        bytes += arrival.event().payloadSize();
        next = arrival.offset() + 1;
    }

    /** Offers what may be handed out, in its order, until the basket is full. */
    void offer(Arrivals.Basket basket, long now) {
        Map<String, Integer> ahead = new HashMap<>();
        for (Arrival arrival : arrivals) {
            @Nullable String key = arrival.event().key().orElse(null);
            int before = key == null ? 0 : ahead.getOrDefault(key, 0);
            if (arrival.isHeld(now)) {
                arrival.nanosToDue(now).ifPresent(basket::due);
                before = DEPTH;
            } else if (arrival.isTaken()) {
                before++;
            } else if (arrival.isHere()) {
                if (before >= DEPTH) {
                    basket.leftOut();
                } else if (!basket.offer(arrival)) {
                    return;
                }
                before++;
            }
            if (key != null) {
                ahead.put(key, before);
            }
        }
    }

    /** Forgets what is finished at the beginning; returns up to where that can be committed, if it is not. */
    OptionalLong committable() {
        Arrival oldest;
        while ((oldest = arrivals.peek()) != null && oldest.isFinished()) {
            arrivals.remove();
            bytes -= oldest.event().payloadSize();
        }
        long offset = oldest == null ? next : oldest.offset();
        return offset > committed ? OptionalLong.of(offset) : OptionalLong.empty();
    }

    /** As {@link #committable}, but if nothing is, what has been: empty only until its first record has come. */
    OptionalLong standing() {
        OptionalLong ahead = committable();
        return ahead.isPresent() || next < 0 ? ahead : OptionalLong.of(committed);
    }

    boolean isEmpty() {
        return arrivals.isEmpty();
    }

    void committed(long offset) {
        committed = Math.max(committed, offset);
    }

    /** Whether it need not bring more for now. */
    boolean isFull(int most) {
        return arrivals.size() >= most || bytes >= MOST_BYTES;
    }

    boolean isUnderWay() {
        return arrivals.stream().anyMatch(Arrival::isUnderWay);
    }
}
