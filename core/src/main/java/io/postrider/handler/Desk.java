// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

import io.postrider.relay.Delivery;
import io.postrider.relay.NotSentException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Has attempts made, each in its time. Thread-safe. */
final class Desk implements AutoCloseable {
    /** How long an interrupted handler may take to come back. */
    static final Duration GRACE = Duration.ofSeconds(5);

    private static final long STOP_NANOS = Duration.ofSeconds(2).toNanos();

    private final @Nullable ExecutorService own;
    private final Crew crew;
    private final ScheduledThreadPoolExecutor timer;
    private final Duration grace;
    private final HandlerListener listener;
    private final Set<Attempt> running = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** @param executor {@code null}: a pool of its own */
    Desk(@Nullable Executor executor, int concurrency, Duration grace, HandlerListener listener) {
        if (executor == null) {
            ExecutorService pool = Executors.newCachedThreadPool(daemons("postrider-handler-"));
            this.own = pool;
            this.crew = new Crew(pool, concurrency);
        } else {
            this.own = null;
            this.crew = new Crew(executor, concurrency);
        }
        this.timer = new ScheduledThreadPoolExecutor(1, daemons("postrider-handler-timeouts-"));
        this.timer.setRemoveOnCancelPolicy(true);
        this.grace = grace;
        this.listener = listener;
    }

    private static ThreadFactory daemons(String name) {
        AtomicInteger number = new AtomicInteger();
        return work -> {
            Thread thread = new Thread(work, name + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Has them handled when there is room. */
    CompletionStage<?> handle(Route.Bound route, List<Delivery> deliveries) {
        Attempt attempt = new Attempt(route, deliveries, listener);
        submit(() -> make(attempt, deliveries));
        return attempt.answer();
    }

    /** @throws NotSentException if nothing is taken any more */
    void submit(Runnable task) {
        try {
            if (!closed) {
                crew.submit(task);
                return;
            }
        } catch (RejectedExecutionException e) {
            // As if it were closed.
        }
        throw stopped();
    }

    private static NotSentException stopped() {
        return new NotSentException("STOPPED", "Handlers take nothing more, because they were closed");
    }

    /**
     * Has them handled by the calling thread.
     *
     * @param answered called once with the result or the failure, mostly by the same thread
     */
    void make(
            Route.Bound route, List<Delivery> deliveries, BiConsumer<@Nullable Object, @Nullable Throwable> answered) {
        Attempt attempt = new Attempt(route, deliveries, listener);
        var unused = attempt.answer().whenComplete(answered);
        make(attempt, deliveries);
    }

    private void make(Attempt attempt, List<Delivery> deliveries) {
        if (closed) {
            attempt.answer().completeExceptionally(stopped());
            return;
        }
        // It may have waited here for longer than its relay was entitled to it.
        long now = System.nanoTime();
        if (!deliveries.stream().allMatch(each -> each.mayStart(now))) {
            attempt.answer()
                    .completeExceptionally(
                            new NotSentException("TOO_LATE", "The relay is not entitled to this event any more"));
            return;
        }
        running.add(attempt);
        if (closed) {
            // Whoever closed it meanwhile may not have seen this one.
            running.remove(attempt);
            attempt.answer().completeExceptionally(stopped());
            return;
        }
        try {
            Future<?> timeout =
                    timer.schedule(() -> expire(attempt), attempt.timeout().toNanos(), TimeUnit.NANOSECONDS);
            attempt.run();
            timeout.cancel(false);
        } catch (RejectedExecutionException e) {
            attempt.answer().completeExceptionally(stopped());
        } finally {
            running.remove(attempt);
        }
    }

    private void expire(Attempt attempt) {
        if (attempt.expire()) {
            var unused = timer.schedule(attempt::giveUp, grace.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    /**
     * Interrupts what runs. Where nobody can say what became of a handler that does not come back, that is said while it can
     * still be written; any other may end well until the last moment, and is repeated if it does not.
     */
    void wrapUp(Duration left) {
        closed = true;
        running.forEach(attempt -> {
            attempt.stop();
            if (attempt.isUnknownIfInterrupted()) {
                var unused = timer.schedule(attempt::giveUp, left.toNanos() / 2, TimeUnit.NANOSECONDS);
            }
        });
    }

    @Override
    public void close() {
        closed = true;
        try {
            if (!crew.awaitIdle(STOP_NANOS)) {
                running.forEach(Attempt::stop);
                crew.awaitIdle(STOP_NANOS);
            }
        } catch (InterruptedException e) {
            running.forEach(Attempt::stop);
            Thread.currentThread().interrupt();
        }
        timer.shutdownNow();
        if (own != null) {
            own.shutdown();
        }
    }
}
