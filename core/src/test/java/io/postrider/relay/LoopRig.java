// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;

/** A loop between an intake and a publisher that tests drive by hand, on a clock they set. */
class LoopRig {
    static final long MS = 1_000_000;
    static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(60);
    /** Lets jitter change nothing. */
    static final RandomGenerator HALF = () -> 1L << 63;

    long now = 5_000 * MS;
    final FakeIntake intake = new FakeIntake(() -> now);
    final HeldPublisher publisher = new HeldPublisher();
    final List<String> told = new ArrayList<>();
    final Gates gates = new Gates(HALF);
    final AtomicInteger wakes = new AtomicInteger();
    boolean leasesCommits;
    Loop loop = loop(new Window(100, 1 << 20));

    Loop loop(Window window) {
        return loop(window, publisher);
    }

    Loop loop(Window window, Publisher to) {
        return loop(window, to, judge());
    }

    Loop loop(Window window, Publisher to, Judge judge) {
        return loop(window, to, judge, Slots.unlimited());
    }

    Loop loop(Window window, Publisher to, Judge judge, Slots slots) {
        Told teller = new Told("r", new Heard());
        Shared shared = new Shared(window, judge, gates, teller, ANSWER_TIMEOUT, slots, () -> leasesCommits);
        Pace pace = new Pace("r", () -> now, HALF, Duration.ofMillis(500));
        return new Loop(intake, to, shared, pace, wakes::incrementAndGet);
    }

    static Judge judge() {
        return new Judge(RetryPolicy.delays(Duration.ofSeconds(1)).attempts(5), HALF);
    }

    void appendAll(String stream, String... keys) {
        for (String key : keys) {
            intake.append(stream, key);
        }
    }

    void turns(int turns) {
        for (int i = 0; i < turns; i++) {
            loop.turn();
        }
    }

    /** A turn when what was answered no longer waits for more, to be settled together. */
    void turnThatSettles() {
        now += 5 * MS;
        loop.turn();
    }

    /** The rows of everything published, in order. */
    List<Long> sent() {
        return publisher.sent.stream().map(this::row).toList();
    }

    void acknowledge(long row) {
        publisher.acknowledge(underWay(row));
    }

    void fail(long row, Throwable failure) {
        publisher.fail(underWay(row), failure);
    }

    private OutboxEvent underWay(long row) {
        return publisher.unanswered().stream()
                .filter(event -> row(event) == row)
                .findFirst()
                .orElseThrow(() -> new AssertionError("Row " + row + " is not under way"));
    }

    private long row(OutboxEvent event) {
        return intake.idOf(event);
    }

    /** Writes down what a listener is told. */
    private final class Heard implements RelayListener {
        @Override
        public void published(OutboxEvent event, Duration took) {
            told.add("published " + row(event) + " in " + took.toMillis() + " ms");
        }

        @Override
        public void retrying(OutboxEvent event, int failed, Duration delay, String code, String message) {
            told.add("retrying " + row(event) + " after " + failed + " failed in " + delay + ": " + code);
        }

        @Override
        public void dead(OutboxEvent event, int failed, String code, String message) {
            told.add("dead " + row(event) + " after " + failed + " failed: " + code);
        }

        @Override
        public void unknown(OutboxEvent event, int failed, String code, String message) {
            told.add("unknown " + row(event) + " after " + failed + " failed: " + code);
        }

        @Override
        public void outageStarted(String stream, String code, String message) {
            told.add("outage of " + stream + " started: " + code);
        }

        @Override
        public void outageEnded(String stream, Duration lasted) {
            told.add("outage of " + stream + " ended after " + lasted);
        }
    }
}
