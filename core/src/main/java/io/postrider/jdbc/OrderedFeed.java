// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxException;
import io.postrider.internal.LeaseSql;
import io.postrider.internal.Sql;
import io.postrider.ops.Housekeeper;
import io.postrider.ops.Retention;
import io.postrider.relay.CommitIntake;
import io.postrider.relay.Feed;
import io.postrider.relay.Intake;
import io.postrider.relay.Membership;
import io.postrider.table.TableNames;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Events in order per key: every key belongs to one of 256 shards, every shard to one relay at a time.
 *
 * <p>A relay keeps one connection for its membership and one for each of its loops, with one more if it publishes on commit,
 * for as long as it runs; while there is a backlog each loop takes a second one, if it can be had. Thread-safe; any number of
 * relays may share one feed.
 */
public final class OrderedFeed implements Feed {
    private static final Logger log = LoggerFactory.getLogger(OrderedFeed.class);

    private final DataSource dataSource;
    private final Sql sql;
    private final LeaseSql leaseSql;
    private final OrderedSettings settings;
    private final Housekeeper housekeeper;
    private final @Nullable String onlyStream;

    private OrderedFeed(Builder builder) {
        dataSource = builder.dataSource;
        sql = new Sql(builder.tables);
        leaseSql = new LeaseSql(builder.tables);
        onlyStream = builder.onlyStream;
        settings = new OrderedSettings(
                builder.group, List.copyOf(builder.streams), builder.lease, builder.statementTimeout);
        housekeeper = builder.housekeeper != null
                ? builder.housekeeper
                : Housekeeper.builder(dataSource)
                        .tables(builder.tables)
                        .retention(new Retention(dataSource, builder.tables, builder.keepHistory))
                        .build();
    }

    /** All streams that no other group has claimed, with default settings. */
    public static OrderedFeed of(DataSource dataSource) {
        return builder(dataSource).build();
    }

    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    /** What the parts of one membership share. */
    record Parts(OrderedSettings settings, Ownership ownership, ShardStore statements, Housekeeping housekeeping) {}

    @Override
    public Membership join(Joining joining) {
        if (onlyStream != null && !joining.onePass()) {
            throw new OutboxException("A relay of stream " + onlyStream
                    + " alone would keep the shards of all others to itself: only a drain can be limited to one stream."
                    + " Give the stream a relay group of its own, or call drain(..).");
        }
        Ownership ownership = new Ownership();
        Duration patience = settings.lease().dividedBy(2);
        Session session = new Session(dataSource, patience);
        Declaration declaration = new Declaration(session, sql, settings.group(), Declaration.Mode.ORDERED);
        ShardStatements statements = new ShardStatements(session, sql, settings);
        OrderedMembership membership = new OrderedMembership(
                joining.name(),
                wants(joining),
                new Parts(settings, ownership, statements, new Housekeeping(housekeeper::tick, System::nanoTime)),
                intakes(joining, ownership),
                System::nanoTime);
        try {
            settings.streams().forEach(declaration::of);
            if (settings.streams().isEmpty() && !settings.adoptsStreams()) {
                declaration.requireAny();
            }
            membership.join();
        } catch (RuntimeException e) {
            if (ownership.member() == 0) {
                statements.close();
            } else {
                leaveQuietly(membership);
            }
            throw e;
        }
        return membership;
    }

    /** A place that was got and not taken would count as a live relay until its lease ends, and have its share of the shards. */
    private static void leaveQuietly(OrderedMembership membership) {
        try {
            membership.leave();
        } catch (RuntimeException e) {
            log.debug("A place that was not taken runs out by itself", e);
        }
    }

    private static ShardStore.Wants wants(Joining joining) {
        if (joining.onePass()) {
            return ShardStore.Wants.DRAIN;
        }
        return joining.loops() == 0 ? ShardStore.Wants.REST : ShardStore.Wants.SHARDS;
    }

    private OrderedMembership.Intakes intakes(Joining joining, Ownership ownership) {
        return new OrderedMembership.Intakes() {
            @Override
            public Intake of(int loop) {
                return new OrderedIntake(
                        new ReadAhead(
                                events(session()).settlingOn(session()),
                                SpareThread.of(joining.name() + "-reads"),
                                System::nanoTime),
                        ownership,
                        new OrderedIntake.Part(loop, joining.loops(), joining.onePass(), onlyStream),
                        System::nanoTime);
            }

            @Override
            public CommitIntake commits(Runnable passedOver) {
                Session session = session();
                LeaseStatements leases =
                        new LeaseStatements(session, leaseSql, events(session), ownership, System::nanoTime);
                return new LeasedIntake(leases, ownership, System::nanoTime, passedOver);
            }

            private Session session() {
                return new Session(dataSource, settings.statementTimeout());
            }

            private EventStatements events(Session session) {
                return new EventStatements(session, sql, settings, joining.name(), ownership);
            }
        };
    }

    /** Collects what differs from the defaults; not thread-safe. */
    public static final class Builder {
        private final DataSource dataSource;
        private final List<StreamSettings> streams = new ArrayList<>();
        private TableNames tables = TableNames.ofDefaults();
        private String group = OrderedSettings.DEFAULT_GROUP;
        private Duration lease = Duration.ofSeconds(8);
        private Duration statementTimeout = Duration.ofSeconds(10);
        private Duration keepHistory = Duration.ofDays(7);
        private @Nullable Housekeeper housekeeper;
        private @Nullable String onlyStream;

        private Builder(DataSource dataSource) {
            this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
        }

        public Builder tables(TableNames tables) {
            this.tables = Objects.requireNonNull(tables, "tables");
            return this;
        }

        /**
         * Relays of one group share its streams. Streams that are nowhere declared belong to the default group; of another
         * one at least one stream must be declared, here or before.
         */
        public Builder group(String group) {
            this.group = Objects.requireNonNull(group, "group");
            return this;
        }

        /** Declares streams of this group; their settings are stored and replace what was stored before. */
        public Builder streams(StreamSettings... streams) {
            this.streams.addAll(List.of(streams));
            return this;
        }

        /** How long a relay that is silent keeps its shards; others take over when it has run out. 8 s by default. */
        public Builder lease(Duration lease) {
            if (lease.compareTo(Duration.ofSeconds(1)) < 0 || lease.compareTo(Duration.ofMinutes(10)) > 0) {
                throw new IllegalArgumentException("A lease of " + lease + " is not between 1 s and 10 min.");
            }
            this.lease = lease;
            return this;
        }

        /** How long the database may be silent during one statement of a loop. */
        public Builder statementTimeout(Duration statementTimeout) {
            this.statementTimeout = Objects.requireNonNull(statementTimeout, "statementTimeout");
            return this;
        }

        /** How long delivered events stay in the history, in whole days; 7 days by default. */
        public Builder keepHistory(Duration keepHistory) {
            this.keepHistory = Housekeeping.wholeDays(keepHistory);
            return this;
        }

        /**
         * What relays do now and then besides delivering, instead of pruning the history as {@link #keepHistory} says: give
         * it a {@link Retention} too. It is neither started nor closed by the relay.
         */
        public Builder housekeeper(Housekeeper housekeeper) {
            this.housekeeper = Objects.requireNonNull(housekeeper, "housekeeper");
            return this;
        }

        /** A {@linkplain io.postrider.relay.Relay#drain drain} takes this stream alone. Relays that go on refuse it. */
        public Builder onlyStream(String stream) {
            this.onlyStream = Objects.requireNonNull(stream, "stream");
            return this;
        }

        public OrderedFeed build() {
            return new OrderedFeed(this);
        }
    }
}
