// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The events of one key that a loop has taken, in their order: those under way, and those that wait behind them. Nothing
 * more is sent once one has failed; what shall become of it is decided when the last one under way has been answered,
 * since until then an earlier event could be sent again behind a later one. For one thread.
 */
final class Lane {
    /** One that failed. */
    record Failed(Delivery delivery, Failure failure) {}

    /**
     * A lane that failed, and is over.
     *
     * @param failed what is to be judged: the oldest event that failed, and all that must not be repeated blindly
     * @param rest whatever else is left of it, to be read again
     */
    record Ended(List<Failed> failed, List<Delivery> rest) {}

    /** Hands one to the publisher. */
    @FunctionalInterface
    interface Send {
        CompletionStage<?> send(Delivery delivery);
    }

    private final Object key;
    private final Send send;
    private final int most;
    private final ArrayDeque<Departure> underWay = new ArrayDeque<>(4);
    private final ArrayDeque<Delivery> unsent = new ArrayDeque<>(4);
    private final SortedMap<Long, Failed> failed = new TreeMap<>();

    /**
     * @param key what it is found by
     * @param most how many may be under way at once
     */
    Lane(Object key, Send send, int most) {
        this.key = key;
        this.send = send;
        this.most = most;
    }

    Object key() {
        return key;
    }

    CompletionStage<?> send(Delivery delivery) {
        return send.send(delivery);
    }

    void add(Delivery delivery) {
        unsent.add(delivery);
    }

    boolean mayGo() {
        return failed.isEmpty() && !unsent.isEmpty() && underWay.size() < most;
    }

    /** The next one, from now on under way. */
    Departure go(long now) {
        Departure next = new Departure(unsent.remove(), this, now);
        underWay.add(next);
        return next;
    }

    /** It is not under way any more. */
    void answered(Departure departure) {
        // Nearly always the first, since answers come in the order of the sends.
        if (underWay.peek() == departure) {
            underWay.remove();
        } else if (!underWay.remove(departure)) {
            throw new IllegalStateException("Not under way: " + departure.delivery());
        }
        departure.end();
    }

    void failed(Departure departure, Failure failure) {
        answered(departure);
        failed.put(departure.delivery().id(), new Failed(departure.delivery(), failure));
    }

    List<Delivery> takeUnsent() {
        List<Delivery> out = new ArrayList<>(unsent);
        unsent.clear();
        return out;
    }

    /** Those under way since before this. */
    void underWaySinceBefore(long nanos, List<Departure> late) {
        underWay.forEach(departure -> {
            if (departure.at() - nanos < 0) {
                late.add(departure);
            }
        });
    }

    /** Whether nothing of it is left to be waited for or sent. */
    boolean isOver() {
        return underWay.isEmpty() && (!failed.isEmpty() || unsent.isEmpty());
    }

    /** How it ended, if it did not end well. */
    @Nullable
    Ended ended() {
        if (failed.isEmpty()) {
            return null;
        }
        List<Failed> judged = new ArrayList<>();
        List<Delivery> rest = new ArrayList<>();
        for (Failed each : failed.values()) {
            if (judged.isEmpty() || each.failure.fault() == Failure.Fault.EVENT_UNKNOWN) {
                judged.add(each);
            } else {
                rest.add(each.delivery);
            }
        }
        rest.addAll(takeUnsent());
        return new Ended(judged, rest);
    }
}
