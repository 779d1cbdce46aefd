// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import io.postrider.OutboxEvent;
import io.postrider.relay.Publisher;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A destination in memory that records what arrives, and when, and answers as a test tells it to.
 *
 * <pre>{@code
 * RecordingPublisher publisher = new RecordingPublisher();
 * publisher.failNext(2, new RetryableFailureException("BUSY", "busy", null));
 * ... run a relay with it ...
 * publisher.awaitCount(3, Duration.ofSeconds(5));
 * }</pre>
 *
 * <p>It takes everything at once until told otherwise. Answers that were {@link #hold held} are given by the thread that
 * releases them. Thread-safe.
 */
public final class RecordingPublisher implements Publisher {
    private final List<Delivery> deliveries = new ArrayList<>();
    private final Deque<Answer> held = new ArrayDeque<>();
    private boolean holding;
    private int failures;
    private @Nullable Throwable failure;
    private Predicate<OutboxEvent> refused = event -> false;
    private @Nullable Throwable refusal;
    private boolean closed;

    /** Creates one that takes everything. */
    public RecordingPublisher() {}

    /**
     * Something that arrived.
     *
     * @param arrivalNanos when, on the clock of {@link System#nanoTime}
     * @param failed whether it was (or will be, if the answer is held) answered with a failure
     */
    public record Delivery(OutboxEvent event, long arrivalNanos, boolean failed) {}

    private record Answer(
            CompletableFuture<@Nullable Void> stage,
            @Nullable Throwable failure) {
        void give() {
            if (failure == null) {
                stage.complete(null);
            } else {
                stage.completeExceptionally(failure);
            }
        }
    }

    @Override
    public CompletionStage<@Nullable Void> publish(OutboxEvent event) {
        Answer answer;
        synchronized (this) {
            answer = new Answer(new CompletableFuture<>(), failureFor(event));
            deliveries.add(new Delivery(event, System.nanoTime(), answer.failure != null));
            notifyAll();
            if (holding) {
                held.add(answer);
                return answer.stage;
            }
        }
        answer.give();
        return answer.stage;
    }

    private @Nullable Throwable failureFor(OutboxEvent event) {
        if (failures > 0) {
            failures--;
            return failure;
        }
        return refused.test(event) ? refusal : null;
    }

    /** Answers the next {@code count} events with this failure. */
    public synchronized void failNext(int count, Throwable failure) {
        this.failures = count;
        this.failure = failure;
    }

    /** Answers the events that match with this failure until {@link #failNone}. */
    public synchronized void failWhen(Predicate<OutboxEvent> matching, Throwable failure) {
        this.refused = matching;
        this.refusal = failure;
    }

    /** Answers no later event with a failure. */
    public synchronized void failNone() {
        failures = 0;
        refused = event -> false;
    }

    /** Keeps back the answers to events that arrive from now on. */
    public synchronized void hold() {
        holding = true;
    }

    /** How many answers are held. */
    public synchronized int held() {
        return held.size();
    }

    /** Gives the oldest held answer; false if there is none. Later answers are still held. */
    public boolean releaseOne() {
        Answer answer;
        synchronized (this) {
            answer = held.poll();
        }
        if (answer == null) {
            return false;
        }
        answer.give();
        return true;
    }

    /** Gives all held answers, the oldest first, and holds no more. */
    public void release() {
        List<Answer> all;
        synchronized (this) {
            holding = false;
            all = List.copyOf(held);
            held.clear();
        }
        all.forEach(Answer::give);
    }

    /** All that arrived, also what was answered with a failure, in the order of arrival. */
    public synchronized List<Delivery> deliveries() {
        return List.copyOf(deliveries);
    }

    /** The events that were not answered with a failure, in the order of arrival. */
    public List<OutboxEvent> events() {
        return deliveries().stream()
                .filter(delivery -> !delivery.failed)
                .map(Delivery::event)
                .toList();
    }

    /**
     * Waits until so many have arrived, counting also what was answered with a failure.
     *
     * @throws AssertionError saying how many there were, if they did not arrive in time
     */
    public synchronized void awaitCount(int count, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (deliveries.size() < count) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                throw new AssertionError("Expected " + count + " deliveries within " + timeout + " and saw "
                        + deliveries.size() + " (" + held.size() + " answers held)");
            }
            try {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted while waiting for " + count + " deliveries", e);
            }
        }
    }

    /** Forgets what has arrived; held answers stay held. */
    public synchronized void clear() {
        deliveries.clear();
    }

    @Override
    public synchronized void close() {
        closed = true;
    }

    /** Whether its relay has closed it. */
    public synchronized boolean isClosed() {
        return closed;
    }
}
