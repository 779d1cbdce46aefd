// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.table.TableNames;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the tables and tells people what is wrong, once, and when it is over.
 *
 * <pre>{@code
 * Alerts alerts = Alerts.builder(dataSource)
 *         .tell(new LogChannel(), SlackChannel.of(Endpoint.of(webhookUrl)))
 *         .watch(new Condition.Pending(50_000))
 *         .build();
 * }</pre>
 *
 * <p>What was told is kept in the database, so any number of processes may look, and each alert is told once, unless the
 * process that tells it dies right then. A channel that fails is tried again later and keeps no other waiting. Thread-safe.
 */
public final class Alerts {
    private static final Logger log = LoggerFactory.getLogger(Alerts.class);
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final Watch watch;
    private final Collection<Condition> conditions;
    private final List<Teller> tellers;

    private Alerts(Builder builder) {
        watch = new Watch(builder.dataSource, builder.tables);
        conditions = List.copyOf(builder.conditions.values());
        AlertRound.Pace pace = new AlertRound.Pace(builder.newsEvery, builder.remindEvery, builder.claim);
        tellers = builder.channels.stream()
                .map(each -> new Teller(
                        each.name(),
                        new AlertRound(
                                each, new AlertStore(builder.dataSource, builder.tables, each.name()), watch, pace)))
                .toList();
    }

    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    /**
     * Looks once and tells what is to be told, all channels at the same time. Returns when they are done, or after 15 s; one
     * that hangs is left to itself, and not used before it has come back.
     */
    public void look() {
        Situation seen = watch.look(conditions);
        List<Thread> threads = new ArrayList<>();
        tellers.forEach(each -> each.start(conditions, seen, threads));
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        try {
            for (Thread thread : threads) {
                thread.join(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** One channel, and whether it is being used. */
    private record Teller(String name, AlertRound round, AtomicBoolean busy) {
        Teller(String name, AlertRound round) {
            this(name, round, new AtomicBoolean());
        }

        void start(Collection<Condition> conditions, Situation seen, List<Thread> threads) {
            if (!busy.compareAndSet(false, true)) {
                return;
            }
            Thread thread = new Thread(() -> run(conditions, seen), "postrider-alerts-" + name);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }

        private void run(Collection<Condition> conditions, Situation seen) {
            try {
                round.run(conditions, seen);
            } catch (RuntimeException e) {
                log.warn("Alert channel {} could not be used and is tried again later: {}", name, e.getMessage());
            } finally {
                busy.set(false);
            }
        }
    }

    /** Collects what differs from the defaults; not thread-safe. */
    public static final class Builder {
        private final DataSource dataSource;
        private final Map<AlertKind, Condition> conditions = new EnumMap<>(AlertKind.class);
        private final List<AlertChannel> channels = new ArrayList<>();
        private TableNames tables = TableNames.ofDefaults();
        private Duration newsEvery = Duration.ofMinutes(5);
        private Duration remindEvery = Duration.ofHours(4);
        private Duration claim = Duration.ofMinutes(1);

        private Builder(DataSource dataSource) {
            this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
            watch(Condition.all().toArray(Condition[]::new));
        }

        public Builder tables(TableNames tables) {
            this.tables = Objects.requireNonNull(tables, "tables");
            return this;
        }

        public Builder tell(AlertChannel... channels) {
            this.channels.addAll(List.of(channels));
            return this;
        }

        /** Other thresholds than those of {@link Condition#all}. */
        public Builder watch(Condition... conditions) {
            List.of(conditions).forEach(each -> this.conditions.put(each.kind(), each));
            return this;
        }

        /** Tells nothing of these. */
        public Builder ignore(AlertKind... kinds) {
            List.of(kinds).forEach(conditions::remove);
            return this;
        }

        /** At most so often of one stream or relay and condition when it gets worse or comes back; 5 min by default. */
        public Builder newsEvery(Duration newsEvery) {
            this.newsEvery = Objects.requireNonNull(newsEvery, "newsEvery");
            return this;
        }

        /** So often of what stays as it is, 4 h by default and 7 days at most. */
        public Builder remindEvery(Duration remindEvery) {
            this.remindEvery = Objects.requireNonNull(remindEvery, "remindEvery");
            return this;
        }

        /** After this another process tells what one has begun to tell and not finished; 1 min by default. */
        public Builder claim(Duration claim) {
            if (claim.compareTo(Duration.ofSeconds(1)) < 0) {
                throw new IllegalArgumentException(
                        "A claim of " + claim + " is too short to tell anybody: give 1 s or more.");
            }
            this.claim = claim;
            return this;
        }

        public Alerts build() {
            if (remindEvery.compareTo(newsEvery) < 0 || remindEvery.compareTo(Duration.ofDays(7)) > 0) {
                throw new IllegalArgumentException("People are told of news every " + newsEvery
                        + " and reminded every " + remindEvery
                        + ": remindEvery must not be shorter than newsEvery, nor longer than 7 days.");
            }
            if (channels.isEmpty()) {
                throw new IllegalArgumentException(
                        "Alerts have no channel, so nobody would be told. Give one: tell(..).");
            }
            Set<String> names = new HashSet<>();
            channels.forEach(each -> {
                if (!names.add(each.name())) {
                    throw new IllegalArgumentException("Two alert channels are named '" + each.name()
                            + "', so the second would never tell anything. Give one another name.");
                }
            });
            return new Alerts(this);
        }
    }
}
