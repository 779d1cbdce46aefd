// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The events of one key that a loop has taken, in their order: those under way, and those that wait behind them. Nothing
 * more is sent once one has failed; what shall become of it is decided when the last one under way has been answered,
 * since until then an earlier event could be sent again behind a later one. For one thread.
 */
final class Lane {
    /** A larger event goes alone: what a destination may refuse for its size is known before a later one is sent. */
    private static final long LARGE = 64 << 10;

    /**
     * A lane that failed, and is over.
     *
     * @param failed in their order, each with its failure
     * @param unsent what waited behind them
     */
    record Ended(Map<Delivery, Failure> failed, List<Delivery> unsent) {}

    private final Map<Delivery, Long> underWay = new LinkedHashMap<>(4);
    private final ArrayDeque<Delivery> unsent = new ArrayDeque<>(4);
    private final Map<Delivery, Failure> failed = new LinkedHashMap<>(0);
    private boolean stopped;

    void add(Delivery delivery) {
        unsent.add(delivery);
    }

    /** Whether the next one may be sent when so many of a key may be under way. */
    boolean mayGo(int most) {
        Delivery next = unsent.peek();
        if (next == null || stopped || underWay.size() >= most) {
            return false;
        }
        return underWay.isEmpty()
                || (next.weight() <= LARGE && underWay.keySet().stream().noneMatch(Lane::isLarge));
    }

    /** The next one, from now on under way. */
    Delivery go(long now) {
        Delivery next = unsent.remove();
        underWay.put(next, now);
        return next;
    }

    /** Since when it is under way, or −1. */
    long sentAt(Delivery delivery) {
        Long sentAt = underWay.get(delivery);
        return sentAt == null ? -1 : sentAt;
    }

    /** Nothing more is to be sent. */
    void stop() {
        stopped = true;
    }

    void succeeded(Delivery delivery) {
        underWay.remove(delivery);
    }

    void failed(Delivery delivery, Failure failure) {
        underWay.remove(delivery);
        failed.put(delivery, failure);
        stopped = true;
    }

    /** Was not sent after all: returns it with all that waited behind it. */
    List<Delivery> takeBack(Delivery delivery) {
        underWay.remove(delivery);
        List<Delivery> back = new ArrayList<>(List.of(delivery));
        back.addAll(takeUnsent());
        return back;
    }

    List<Delivery> takeUnsent() {
        List<Delivery> out = new ArrayList<>(unsent);
        unsent.clear();
        return out;
    }

    /** Those under way since before this. */
    void underWaySinceBefore(long nanos, List<Delivery> late) {
        underWay.forEach((delivery, sentAt) -> {
            if (sentAt - nanos < 0) {
                late.add(delivery);
            }
        });
    }

    /** Whether nothing of it is left to be waited for or sent. */
    boolean isOver() {
        return underWay.isEmpty() && (stopped || unsent.isEmpty());
    }

    /** How it ended, if it did not end well. */
    @Nullable
    Ended ended() {
        return failed.isEmpty() && unsent.isEmpty() ? null : new Ended(failed, takeUnsent());
    }

    private static boolean isLarge(Delivery delivery) {
        return delivery.weight() > LARGE;
    }
}
