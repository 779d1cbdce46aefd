// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The events of one key that a loop has taken, in their order: those under way, and those that wait behind them. Nothing
 * more is sent once one has failed; what shall become of it is decided when the last one under way has been answered,
 * since until then an earlier event could be sent again behind a later one. For one thread.
 */
final class Lane {
    private record Failed(Delivery delivery, Failure failure) {}

    /**
     * A lane that failed, and is over.
     *
     * @param failed the oldest event that failed
     * @param rest whatever else is left of it, to be read again
     */
    record Ended(Delivery failed, Failure failure, List<Delivery> rest) {}

    private final Publisher.Run run;
    private final int most;
    private final ArrayDeque<Departure> underWay = new ArrayDeque<>(4);
    private final ArrayDeque<Delivery> unsent = new ArrayDeque<>(4);
    private final SortedMap<Long, Failed> failed = new TreeMap<>();

    /** @param most how many may be under way at once */
    Lane(Publisher.Run run, int most) {
        this.run = run;
        this.most = most;
    }

    Publisher.Run run() {
        return run;
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
        Failed oldest = Objects.requireNonNull(failed.remove(failed.firstKey()));
        List<Delivery> rest = new ArrayList<>();
        failed.values().forEach(later -> rest.add(later.delivery));
        rest.addAll(takeUnsent());
        return new Ended(oldest.delivery, oldest.failure, rest);
    }
}
