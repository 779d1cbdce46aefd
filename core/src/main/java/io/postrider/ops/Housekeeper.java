// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.table.TableNames;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does what has to be done now and then, in one of all processes that have a housekeeper: makes the history's partitions
 * every hour, prunes once a day, looks for what people must be told every minute.
 *
 * <pre>{@code
 * Housekeeper housekeeper = Housekeeper.builder(dataSource)
 *         .retention(new Retention(dataSource, tables, Duration.ofDays(7)).archiving())
 *         .alerts(alerts)
 *         .daily("inbox", inbox::prune)
 *         .build();
 * OrderedFeed.builder(dataSource).housekeeper(housekeeper);    // relays run it, or, where there is no relay:
 * housekeeper.start();
 * }</pre>
 *
 * <p>When each is due is kept in the database, so that a restart neither skips nor repeats it. Thread-safe.
 */
public final class Housekeeper implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Housekeeper.class);
    private static final Duration LOOK_EVERY = Duration.ofSeconds(15);
    private static final Duration TRY_AGAIN = Duration.ofMinutes(10);

    private final List<Chore> chores;
    private final CountDownLatch closed = new CountDownLatch(1);
    private @Nullable Thread thread;

    private Housekeeper(Builder builder) {
        String holder = ManagementFactory.getRuntimeMXBean().getName();
        chores = builder.plans.entrySet().stream()
                .map(each -> new Chore(
                        new Duty(builder.dataSource, builder.tables, each.getKey(), holder),
                        each.getKey(),
                        each.getValue()))
                .toList();
    }

    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    /** Something to do; says whether it is finished, or must be done again soon. */
    private interface Work {
        boolean finished();
    }

    /** What is to be done, and when the next time is, seen from the last. */
    private record Plan(Work work, UnaryOperator<Instant> next) {}

    private record Chore(Duty duty, String name, Plan plan) {
        void runIfDue() {
            duty.take().ifPresent(turn -> {
                boolean finished = false;
                try {
                    finished = plan.work().finished();
                } catch (RuntimeException e) {
                    log.warn("Housekeeping ({}) failed and is tried again in 10 minutes: {}", name, e.getMessage());
                }
                Instant regular = plan.next().apply(turn.at());
                Instant soon = turn.at().plus(TRY_AGAIN);
                duty.done(turn, finished || regular.isBefore(soon) ? regular : soon);
            });
        }
    }

    /** Does what is due and what no other process is doing. A failure is logged. */
    public void tick() {
        for (Chore chore : chores) {
            try {
                chore.runIfDue();
            } catch (RuntimeException e) {
                log.warn("Housekeeping ({}) could not be begun or ended: {}", chore.name(), e.getMessage());
            }
        }
    }

    /** Does what is due in a thread of its own until it is closed. Not needed where a relay runs it. */
    public synchronized void start() {
        if (thread != null || closed.getCount() == 0) {
            throw new IllegalStateException("This housekeeper was started before. Make another one.");
        }
        thread = new Thread(this::run, "postrider-housekeeper");
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            do {
                tick();
            } while (!closed.await(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends its thread, after what it is doing. */
    @Override
    public void close() {
        Thread running;
        synchronized (this) {
            closed.countDown();
            running = thread;
        }
        try {
            if (running != null) {
                running.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Collects what is to be done; not thread-safe. */
    public static final class Builder {
        private final DataSource dataSource;
        private final Map<String, Plan> plans = new LinkedHashMap<>();
        private TableNames tables = TableNames.ofDefaults();
        private DailyAt dailyAt = DailyAt.ofDefaults();

        private Builder(DataSource dataSource) {
            this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
        }

        public Builder tables(TableNames tables) {
            this.tables = Objects.requireNonNull(tables, "tables");
            return this;
        }

        /** When daily work is done; 02:00 UTC by default. What was missed is done at the next start. */
        public Builder dailyAt(DailyAt dailyAt) {
            this.dailyAt = Objects.requireNonNull(dailyAt, "dailyAt");
            return this;
        }

        /** Makes partitions every hour, and prunes once a day. Give the same in all processes: one of them does it. */
        public Builder retention(Retention retention) {
            plan("partitions", () -> retention.prepare() >= 0, at -> at.plus(Duration.ofHours(1)));
            plan("retention", () -> !retention.run().busy(), at -> dailyAt.after(at));
            return this;
        }

        /** Looks every minute. */
        public Builder alerts(Alerts alerts) {
            return every("alerts", Duration.ofSeconds(60), alerts::look);
        }

        /** Something of your own that one process shall do, once a day. It must tolerate being done twice. */
        public Builder daily(String name, Runnable work) {
            plan(name, finished(work), at -> dailyAt.after(at));
            return this;
        }

        /** Something of your own that one process shall do so often. It must tolerate being done twice. */
        public Builder every(String name, Duration period, Runnable work) {
            if (period.compareTo(Duration.ofSeconds(1)) < 0) {
                throw new IllegalArgumentException(
                        "To do " + name + " every " + period + " is too often: 1 s is the least.");
            }
            plan(name, finished(work), at -> at.plus(period));
            return this;
        }

        private static Work finished(Runnable work) {
            return () -> {
                work.run();
                return true;
            };
        }

        private void plan(String name, Work work, UnaryOperator<Instant> next) {
            if (plans.putIfAbsent(name, new Plan(work, next)) != null) {
                throw new IllegalArgumentException("The housekeeper has two chores named '" + name + "'. Rename one.");
            }
        }

        public Housekeeper build() {
            return new Housekeeper(this);
        }
    }
}
