// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxException;
import io.postrider.internal.CompetingSql;
import io.postrider.internal.Sql;
import io.postrider.ops.Housekeeper;
import io.postrider.ops.Retention;
import io.postrider.relay.Feed;
import io.postrider.relay.Membership;
import io.postrider.table.TableNames;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A work queue: events in no order, each leased by whoever is first, those of one key side by side.
 *
 * <pre>{@code
 * CompetingFeed feed = CompetingFeed.of(dataSource, "mail", "thumbnails");
 * Relay mail = Relay.from(feed.only("mail")).to(sender).window(new Window(20, 1 << 20)).build();
 * Relay thumbnails = Relay.from(feed.only("thumbnails").lease(ofMinutes(1))).to(painter).build();
 * }</pre>
 *
 * <p>All relays that take from one feed share its place among the relays: one connection and one renewal for all of them,
 * beside a connection for each loop. So a process needs one feed however many workers it has. Thread-safe.
 */
public final class CompetingFeed implements Feed {
    private final DataSource dataSource;
    private final Sql sql;
    private final CompetingSql competingSql;
    private final CompetingMember member;
    private final Part part;

    /** What one worker takes, and for how long it leases it. */
    record Part(Set<String> streams, Duration lease) {}

    private CompetingFeed(Builder builder, CompetingSettings settings) {
        dataSource = builder.dataSource;
        sql = new Sql(builder.tables);
        competingSql = new CompetingSql(builder.tables);
        Housekeeper housekeeper = builder.housekeeper != null
                ? builder.housekeeper
                : Housekeeper.builder(dataSource)
                        .tables(builder.tables)
                        .retention(new Retention(dataSource, builder.tables, builder.keepHistory))
                        .build();
        Session session = new Session(dataSource, settings.lease().dividedBy(2));
        member = new CompetingMember(
                new MemberStatements(session, sql, competingSql, settings),
                settings,
                new Housekeeping(housekeeper::tick, System::nanoTime),
                System::nanoTime);
        part = new Part(
                settings.streams().stream()
                        .map(StreamSettings::name)
                        .collect(Collectors.toCollection(LinkedHashSet::new)),
                settings.lease());
    }

    private CompetingFeed(CompetingFeed whole, Part part) {
        this.dataSource = whole.dataSource;
        this.sql = whole.sql;
        this.competingSql = whole.competingSql;
        this.member = whole.member;
        this.part = part;
    }

    /** These streams, with default settings. */
    public static CompetingFeed of(DataSource dataSource, String... streams) {
        return builder(dataSource)
                .streams(Arrays.stream(streams).map(StreamSettings::of).toArray(StreamSettings[]::new))
                .build();
    }

    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    /** Some of its streams, for a worker that leaves the others alone; in the same place among the relays. */
    public CompetingFeed only(String... streams) {
        Set<String> some = new LinkedHashSet<>(List.of(streams));
        some.stream()
                .filter(stream -> !part.streams().contains(stream))
                .findFirst()
                .ifPresent(stream -> {
                    throw new OutboxException("Stream " + stream + " is none of this feed's ("
                            + String.join(", ", part.streams()) + "). Name it when the feed is built.");
                });
        if (some.isEmpty()) {
            throw new OutboxException("No stream was named, so the worker would do nothing. Name one or more.");
        }
        return new CompetingFeed(this, new Part(some, part.lease()));
    }

    /** Another lease for what this worker takes: longer than that of the feed means fewer extensions, and a later retry. */
    public CompetingFeed lease(Duration lease) {
        Duration least = member.settings().lease();
        if (lease.compareTo(least) < 0 || lease.compareTo(Duration.ofHours(1)) > 0) {
            throw new IllegalArgumentException("A worker's lease of " + lease + " is not between the feed's (" + least
                    + ") and 1 h. Shorten the feed's.");
        }
        return new CompetingFeed(this, new Part(part.streams(), lease));
    }

    @Override
    public Membership join(Joining joining) {
        CompetingMembership worker = new CompetingMembership(member, joining, part, () -> {
            Session session = new Session(dataSource, member.settings().statementTimeout());
            Settling settling = new Settling(session, sql, joining.name());
            return new ClaimStatements(session, competingSql, settling, joining.name(), System::nanoTime);
        });
        member.enter(worker);
        return worker;
    }

    CompetingMember member() {
        return member;
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

        private Builder(DataSource dataSource) {
            this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
        }

        public Builder tables(TableNames tables) {
            this.tables = Objects.requireNonNull(tables, "tables");
            return this;
        }

        /** Whose streams these are; as that of an {@link OrderedFeed}. */
        public Builder group(String group) {
            this.group = Objects.requireNonNull(group, "group");
            return this;
        }

        /** Declares competing streams; their settings are stored and replace what was stored before. */
        public Builder streams(StreamSettings... streams) {
            this.streams.addAll(List.of(streams));
            return this;
        }

        /**
         * How long an event stays leased by a process that is silent; others take it when it has run out. Leases of what is
         * under way are extended in time. 8 s by default.
         */
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

        /** What workers do now and then besides delivering; as that of an {@link OrderedFeed}. */
        public Builder housekeeper(Housekeeper housekeeper) {
            this.housekeeper = Objects.requireNonNull(housekeeper, "housekeeper");
            return this;
        }

        public CompetingFeed build() {
            if (streams.isEmpty()) {
                throw new OutboxException(
                        "A competing feed takes only streams that it names, and it names none. Declare them with streams(..).");
            }
            return new CompetingFeed(this, new CompetingSettings(group, List.copyOf(streams), lease, statementTimeout));
        }
    }
}
