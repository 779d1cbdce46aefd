// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import io.postrider.OutboxException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Threads that write events into a {@link Ledger}'s database as an unruly application would: some transactions roll back,
 * some commit late, some are large.
 *
 * <p>They outlive the loss of their connection and of the server: what was not committed is forgotten, and a commit whose
 * answer was lost is counted as unknown and left to the ledger's table. A seed makes the same choices again. Thread-safe.
 */
public final class LedgerWriters implements AutoCloseable {
    private final Builder settings;
    private final List<Thread> threads;
    private final AtomicLong committed = new AtomicLong();
    private final AtomicLong rolledBack = new AtomicLong();
    private final AtomicLong unknown = new AtomicLong();
    private final AtomicLong broken = new AtomicLong();
    private final AtomicLong nextSlot = new AtomicLong(System.nanoTime());
    private final AtomicReference<@Nullable Throwable> lastFailure = new AtomicReference<>();
    private final AtomicReference<@Nullable Throwable> fatal = new AtomicReference<>();
    private volatile boolean stopped;

    private LedgerWriters(Builder settings) {
        this.settings = settings;
        SplittableRandom seeds = new SplittableRandom(settings.seed);
        threads = IntStream.range(0, settings.threads)
                .mapToObj(i -> seeds.split())
                .map(random -> new Thread(() -> write(random), "postrider-ledger-writer"))
                .toList();
    }

    /** Events of transactions whose commit was answered. */
    public long committed() {
        return committed.get();
    }

    /** Transactions that were rolled back on purpose. */
    public long rolledBack() {
        return rolledBack.get();
    }

    /** Transactions whose commit failed or was not answered; the ledger's table knows. */
    public long unknown() {
        return unknown.get();
    }

    /** Transactions that failed before their commit, and attempts to connect that failed. */
    public long broken() {
        return broken.get();
    }

    /** What the choices were drawn from; print it with the result of a test. */
    public long seed() {
        return settings.seed;
    }

    /**
     * Waits until the wanted number of events has been committed.
     *
     * @throws AssertionError with the counts and the last failure, if that took longer or a writer gave up
     */
    public void awaitDone(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        for (Thread thread : threads) {
            join(thread, Math.max(1, deadline - System.nanoTime()));
            if (thread.isAlive()) {
                throw new AssertionError(
                        "The writers (seed " + seed() + ") had not ended after " + timeout + ": " + this,
                        lastFailure.get());
            }
        }
        Throwable end = fatal.get();
        if (end != null) {
            throw new AssertionError("A writer (seed " + seed() + ") gave up: " + end.getMessage(), end);
        }
    }

    /** Ends the writers after their current transactions. */
    public void stop() {
        stopped = true;
        awaitDone(Duration.ofMinutes(2));
    }

    /** The same as {@link #stop}, but also interrupts them if they do not end, and throws nothing. */
    @Override
    public void close() {
        stopped = true;
        threads.forEach(thread -> join(thread, TimeUnit.SECONDS.toNanos(20)));
        threads.forEach(Thread::interrupt);
    }

    @Override
    public String toString() {
        return committed + " committed, " + rolledBack + " rolled back, " + unknown + " unknown, " + broken + " broken";
    }

    private static void join(Thread thread, long nanos) {
        try {
            TimeUnit.NANOSECONDS.timedJoin(thread, nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for the writers", e);
        }
    }

    private boolean isDone() {
        return stopped || fatal.get() != null || committed.get() >= settings.events;
    }

    private void write(SplittableRandom random) {
        while (!isDone()) {
            try (Connection connection = settings.ledger.source().getConnection()) {
                connection.setAutoCommit(false);
                while (!isDone()) {
                    transaction(connection, random);
                }
            } catch (SQLException | OutboxException e) {
                if (e instanceof OutboxException && !(e.getCause() instanceof SQLException)) {
                    fatal.compareAndSet(null, e);
                }
                broken.incrementAndGet();
                lastFailure.set(e);
                Pause.millis(50);
            } catch (RuntimeException | Error e) {
                fatal.compareAndSet(null, e);
            }
        }
    }

    private void transaction(Connection connection, SplittableRandom random) throws SQLException {
        boolean large = random.nextDouble() < settings.largeShare;
        int count = large ? settings.largeSize : 1;
        awaitSlot(count);
        LedgerTransaction transaction = new LedgerTransaction(connection, settings.stream, settings.padding);
        try {
            transaction.write(settings.appender, chosenKeys(random, large), count, random);
            boolean late = random.nextDouble() < settings.lateShare;
            if (late) {
                Pause.nanos(random.nextLong(1, settings.latest.toNanos() + 2));
            }
            if (random.nextDouble() < settings.rollbackShare) {
                connection.rollback();
                settings.appender.forgotten(connection);
                rolledBack.incrementAndGet();
                return;
            }
        } catch (SQLException | RuntimeException e) {
            transaction.abandon();
            settings.appender.forgotten(connection);
            throw e;
        }
        try {
            connection.commit();
            committed.addAndGet(count);
        } catch (SQLException e) {
            settings.appender.forgotten(connection);
            unknown.incrementAndGet();
            throw e;
        }
        settings.appender.committed(connection);
    }

    private List<String> chosenKeys(SplittableRandom random, boolean large) {
        int first = random.nextInt(settings.keys);
        int count = large ? Math.min(4, settings.keys) : 1;
        // Sorted, so that two large transactions lock in the same order.
        return IntStream.range(0, count)
                .map(i -> (first + i) % settings.keys)
                .sorted()
                .mapToObj(Builder::key)
                .toList();
    }

    private void awaitSlot(int count) {
        if (settings.rate == 0) {
            return;
        }
        long step = TimeUnit.SECONDS.toNanos(count) / settings.rate;
        long slot = nextSlot.getAndAdd(step);
        long wait = slot - System.nanoTime();
        if (wait > 0) {
            Pause.nanos(wait);
        }
    }

    /** Collects how the writers write; not thread-safe. */
    public static final class Builder {
        private final Ledger ledger;
        private final Ledger.Appender appender;
        private int threads = 4;
        private int keys = 50;
        private long seed = System.nanoTime();
        private long events = Long.MAX_VALUE;
        private long rate;
        private String stream = "ledger";
        private int padding = 200;
        private double rollbackShare = 0.20;
        private double lateShare = 0.05;
        private Duration latest = Duration.ofMillis(50);
        private double largeShare = 0.01;
        private int largeSize = 200;

        Builder(Ledger ledger, Ledger.Appender appender) {
            this.ledger = ledger;
            this.appender = appender;
        }

        /** How many threads write; 4 unless given. */
        public Builder threads(int threads) {
            this.threads = threads;
            return this;
        }

        /** How many keys there are; 50 unless given. */
        public Builder keys(int keys) {
            this.keys = keys;
            return this;
        }

        /** What the choices are drawn from; another one each time unless given. */
        public Builder seed(long seed) {
            this.seed = seed;
            return this;
        }

        /** Ends once at least so many events have been committed; without it they write until they are stopped. */
        public Builder events(long events) {
            this.events = events;
            return this;
        }

        /** How many events per second are offered by all threads together; 0, the default, is as many as can be. */
        public Builder rate(long eventsPerSecond) {
            this.rate = eventsPerSecond;
            return this;
        }

        /** The stream of the events; {@code ledger} unless given. */
        public Builder stream(String stream) {
            this.stream = stream;
            return this;
        }

        /** The most bytes with which a payload is filled up; 200 unless given. */
        public Builder padding(int bytes) {
            this.padding = bytes;
            return this;
        }

        /** The share of transactions that roll back; 0.2 unless given. */
        public Builder rollbacks(double share) {
            this.rollbackShare = share;
            return this;
        }

        /** The share of transactions that sleep before they commit, and how long at most; 0.05 and 50 ms unless given. */
        public Builder lateCommits(double share, Duration latest) {
            this.lateShare = share;
            this.latest = latest;
            return this;
        }

        /** The share of transactions that write many events, and how many; 0.01 and 200 unless given. */
        public Builder largeTransactions(double share, int events) {
            this.largeShare = share;
            this.largeSize = events;
            return this;
        }

        /** Starts the threads. */
        public LedgerWriters start() {
            List<String> names = new ArrayList<>();
            for (int i = 0; i < keys; i++) {
                names.add(key(i));
            }
            ledger.addKeys(names);
            LedgerWriters writers = new LedgerWriters(this);
            writers.threads.forEach(thread -> {
                thread.setDaemon(true);
                thread.start();
            });
            return writers;
        }

        private static String key(int number) {
            return String.format("key-%04d", number);
        }
    }
}
