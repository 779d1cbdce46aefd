// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The producer in use, those that are being replaced, and the watchdog that replaces them.
 *
 * <p>The client is told never to give a record up, because it may deliver a later one after an earlier one expired.
 * Instead a producer with a send in doubt is retired as a whole: a fresh one takes over, what is healthy on the old one
 * may finish, and only then is it closed and the doubtful sends are answered. Thread-safe.
 */
final class Producers {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaPublisher.class);
    private static final Duration CLOSE_GRACE = Duration.ofSeconds(2);
    private static final long LONGEST_WATCH_MILLIS = 1_000;
    private static final long OPEN_AT_MOST_EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST_RETIRED = 3;

    private final ProducerSettings settings;
    private final KafkaFailures failures;
    private final Map<String, TopicProbe> probes = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor watchdog;
    private final ExecutorService opener;

    private volatile @Nullable Generation current;
    private volatile boolean closed;

    // Guarded by this.
    private final Deque<Generation> retired = new ArrayDeque<>();
    private boolean opening;
    private int opened;
    private long openedAt;

    // Only one thread opens at a time.
    private volatile int failedLast = -1;

    /** Opens the first producer, so that wrong settings fail here; or leaves that to the first send, or to the watchdog. */
    Producers(ProducerSettings settings, boolean later) {
        this.settings = settings;
        this.failures = new KafkaFailures(settings.secrets());
        if (later) {
            settings.check();
        } else {
            this.current = new Generation(settings.open(++opened), failures, this::broken);
        }
        this.openedAt = System.nanoTime();
        this.watchdog = new ScheduledThreadPoolExecutor(1, daemon("postrider-kafka-watchdog"));
        watchdog.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        // Opening resolves names and closing joins a thread: neither may hold up the watchdog, nor one the other.
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                2, 2, 5, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), daemon("postrider-kafka-producers"));
        pool.allowCoreThreadTimeOut(true);
        this.opener = pool;
        long tick = Math.max(
                10, Math.min(LONGEST_WATCH_MILLIS, settings.sendTimeout().toMillis() / 20));
        var unused = watchdog.scheduleWithFixedDelay(this::watch, tick, tick, TimeUnit.MILLISECONDS);
    }

    private static ThreadFactory daemon(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    KafkaFailures failures() {
        return failures;
    }

    /** Takes a send and returns at once; its answer comes later. */
    void accept(Send send) {
        TopicProbe probe = probes.get(send.topic());
        if ((probe == null || !probe.add(send)) && !offer(send)) {
            park(send);
        }
    }

    /** Offers the send to the producer in use; false if nothing can take it now. */
    private boolean offer(Send send) {
        while (!closed) {
            Generation generation = current;
            if (generation == null) {
                openFirst();
                send.blocked(KafkaFailures.noProducer(send.topic()));
                return false;
            }
            switch (generation.offer(send)) {
                case TAKEN -> {
                    return true;
                }
                case LATER -> {
                    return false;
                }
                case CLOSED -> Thread.onSpinWait(); // it was replaced since we looked
            }
        }
        send.failed(KafkaFailures.closed(send.topic()));
        return true;
    }

    private void park(Send send) {
        while (true) {
            TopicProbe fresh = new TopicProbe(send.topic());
            TopicProbe probe = probes.putIfAbsent(send.topic(), fresh);
            if (probe == null) {
                fresh.add(send);
                tryLater(fresh);
                return;
            }
            if (probe.add(send)) {
                return;
            }
            probes.remove(send.topic(), probe);
        }
    }

    private void tryLater(TopicProbe probe) {
        try {
            var unused = watchdog.schedule(() -> retry(probe), probe.nextPauseMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            endProbe(probe);
        }
    }

    private void retry(TopicProbe probe) {
        for (Send head = probe.head(); head != null; head = probe.head()) {
            if (!offer(head)) {
                Duration wait = settings.metadataWait();
                for (Send send : probe.expired(wait.toNanos(), System.nanoTime())) {
                    RuntimeException reason = send.blockedBy() == null ? head.blockedBy() : send.blockedBy();
                    send.failed(failures.blocked(reason == null ? new TimeoutException() : reason, send.topic(), wait));
                }
                tryLater(probe);
                return;
            }
            probe.removeHead();
        }
        probes.remove(probe.topic(), probe);
    }

    private void endProbe(TopicProbe probe) {
        probes.remove(probe.topic(), probe);
        probe.end().forEach(send -> send.failed(KafkaFailures.closed(send.topic())));
    }

    /** The watchdog's round: is a send in doubt, and which retired producers can go? */
    private void watch() {
        try {
            long now = System.nanoTime();
            long timeout = settings.sendTimeout().toNanos();
            Generation generation = current;
            if (generation == null || generation.inDoubt(timeout, now)) {
                replace(generation);
            }
            for (Generation spent : takeSpent(timeout, now)) {
                inBackground(() ->
                        spent.close(Duration.ZERO, topic -> KafkaFailures.noAnswer(topic, settings.sendTimeout())));
            }
        } catch (RuntimeException e) {
            LOG.warn(
                    "The Kafka watchdog failed and goes on: {}",
                    settings.secrets().describe(e));
        }
    }

    private synchronized List<Generation> takeSpent(long timeout, long now) {
        List<Generation> spent = new ArrayList<>();
        retired.removeIf(generation -> {
            boolean end = generation.spent(timeout, now) || retired.size() - spent.size() > MOST_RETIRED;
            if (end) {
                spent.add(generation);
            }
            return end;
        });
        return spent;
    }

    /** Told by a producer in use: it takes nothing any more, so what comes waits for the next one. */
    private void broken(Generation generation) {
        synchronized (this) {
            if (generation != current) {
                return;
            }
            retired.add(generation);
            current = null;
        }
        LOG.atLevel(levelFor(generation)).log("A Kafka producer must send no more and is replaced.");
        if (generation.hasDelivered()) {
            openAtOnce();
        }
    }

    /** Opens a fresh producer; the one in doubt stays in use until then, as its other topics are healthy. */
    private void replace(@Nullable Generation doubtful) {
        synchronized (this) {
            boolean tooSoon = System.nanoTime() - openedAt < OPEN_AT_MOST_EVERY_NANOS;
            if (closed || opening || doubtful != current || tooSoon) {
                return; // the watchdog comes again
            }
            opening = true;
        }
        if (doubtful != null) {
            LOG.atLevel(levelFor(doubtful))
                    .log("Kafka gave no answer for {}: the producer is replaced.", settings.sendTimeout());
        }
        inBackground(this::open);
    }

    /** Somebody waits for the very first. */
    private void openFirst() {
        synchronized (this) {
            if (opened > 0) {
                return;
            }
        }
        openAtOnce();
    }

    /** The one before had worked: no need to wait, and others must not. */
    private void openAtOnce() {
        synchronized (this) {
            if (closed || opening || current != null) {
                return;
            }
            opening = true;
        }
        inBackground(this::open);
    }

    /** In an outage producers follow one another without a delivery: only the first is news. */
    private static Level levelFor(Generation generation) {
        return generation.hasDelivered() ? Level.WARN : Level.DEBUG;
    }

    private void inBackground(Runnable task) {
        try {
            opener.execute(task);
        } catch (RejectedExecutionException e) {
            task.run(); // we are being closed, and what this task holds must be closed too
        }
    }

    private void open() {
        Generation fresh = null;
        int number;
        synchronized (this) {
            number = ++opened;
        }
        try {
            fresh = new Generation(settings.open(number), failures, this::broken);
        } catch (RuntimeException e) {
            LOG.atLevel(number == failedLast + 1 ? Level.DEBUG : Level.WARN)
                    .log("A fresh Kafka producer could not be opened, and is tried again: {}", e.getMessage());
            failedLast = number;
        }
        synchronized (this) {
            opening = false;
            openedAt = System.nanoTime();
            if (!closed) {
                Generation old = current;
                if (old != null) {
                    retired.add(old);
                }
                current = fresh;
                return;
            }
        }
        if (fresh != null) {
            fresh.close(Duration.ZERO, KafkaFailures::closed);
        }
    }

    /** Gives what is under way a moment, ends the rest with {@code CLOSED}, and leaves no thread behind. */
    void close() {
        List<Generation> left;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            left = new ArrayList<>(retired);
            retired.clear();
            Generation last = current;
            if (last != null) {
                left.add(last);
            }
            current = null;
        }
        watchdog.shutdownNow();
        List.copyOf(probes.values()).forEach(this::endProbe);
        long end = System.nanoTime() + CLOSE_GRACE.toNanos();
        for (Generation generation : left) {
            long grace = Math.max(0, end - System.nanoTime());
            generation.close(Duration.ofNanos(grace), KafkaFailures::closed);
        }
        opener.shutdown();
        try {
            if (!opener.awaitTermination(5, TimeUnit.SECONDS) || !watchdog.awaitTermination(1, TimeUnit.SECONDS)) {
                LOG.warn("Closing a Kafka producer takes longer than expected; its thread is left to end by itself.");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
