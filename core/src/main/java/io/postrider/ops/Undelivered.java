// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.internal.OverviewSql;
import io.postrider.internal.Rows;
import io.postrider.table.TableNames;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Events that have not been delivered, without their payloads. Thread-safe. */
public final class Undelivered {
    private static final int SEARCHED_AT_ONCE = 50_000;

    private final Rows rows;
    private final OverviewSql sql;

    private Undelivered(DataSource dataSource, TableNames tables) {
        this.rows = new Rows(dataSource);
        this.sql = new OverviewSql(tables);
    }

    public static Undelivered of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    public static Undelivered of(DataSource dataSource, TableNames tables) {
        return new Undelivered(dataSource, tables);
    }

    /** What an event waits for. */
    public enum State {
        /** A relay. */
        PENDING,
        /** Its next attempt. */
        RETRYING,
        /** The time that its writer gave. */
        DELAYED,
        /** The process that wrote it. */
        LEASED,
        /** A person. */
        DEAD,
        /** Somebody who finds out whether it had its effect. */
        UNKNOWN
    }

    /**
     * One event, as it was when it was looked at.
     *
     * @param maxAttempts its own limit; empty if it is the relay's
     * @param revision what a change of it must still find
     * @param expiresAt when it is too late to send it; empty: never
     * @param dedupKey what no other of its stream may have meanwhile
     */
    public record Event(
            long id,
            UUID eventId,
            String stream,
            Optional<String> key,
            String type,
            State state,
            boolean holdsKey,
            Instant dueAt,
            int attempts,
            Optional<String> errorCode,
            Optional<String> errorMessage,
            Instant createdAt,
            int revision,
            Optional<String> aggregateType,
            Optional<String> aggregateId,
            Optional<String> contentType,
            Optional<Integer> maxAttempts,
            Optional<Instant> lastAttemptAt,
            Optional<Instant> expiresAt,
            Optional<String> dedupKey) {}

    /**
     * A page of a search.
     *
     * @param searchedTo the row up to which was searched; empty if there is nothing behind it
     */
    public record Page(List<Event> events, OptionalLong searchedTo) {}

    /**
     * A page of them, oldest first.
     *
     * @param afterId the row id of the last one of the page before, or 0
     * @param limit 1 to 1,000
     */
    public List<Event> find(@Nullable String stream, @Nullable String key, long afterId, int limit) {
        EventQuery.checked(limit);
        if (stream == null && key == null) {
            return rows.read("undelivered events", sql.undelivered, Undelivered::event, afterId, limit);
        }
        String text = key == null ? sql.undeliveredOfStream : sql.undeliveredOfKey;
        @Nullable Object[] values = {stream, key, afterId, limit, limit, limit, limit};
        return rows.read("undelivered events", text, Undelivered::event, values);
    }

    /**
     * A page of those that match, oldest first. What no index answers is searched row by row, {@value #SEARCHED_AT_ONCE} of
     * them at once: a page may be short, or empty, while there is more behind it.
     *
     * @param afterId the row up to which was searched before, or 0
     * @param limit 1 to 1,000
     */
    public Page search(EventQuery query, long afterId, int limit) {
        if (query.onlyStreamAndKey()) {
            List<Event> found = find(query.stream(), query.key(), afterId, limit);
            return new Page(
                    found,
                    found.size() < limit
                            ? OptionalLong.empty()
                            : OptionalLong.of(found.get(limit - 1).id()));
        }
        OverviewSql.Among among = among(query.state());
        record Range(long last, long rows) {}
        Range range = rows.read(
                        "undelivered events",
                        sql.range(among),
                        row -> new Range(row.getLong(1), row.getLong(2)),
                        afterId,
                        SEARCHED_AT_ONCE)
                .get(0);
        List<Event> found = rows.read(
                "undelivered events",
                sql.search(among),
                Undelivered::event,
                values(query, afterId, range.last(), EventQuery.checked(limit)));
        if (found.size() == limit) {
            return new Page(found, OptionalLong.of(found.get(limit - 1).id()));
        }
        return new Page(found, range.rows() < SEARCHED_AT_ONCE ? OptionalLong.empty() : OptionalLong.of(range.last()));
    }

    private static OverviewSql.Among among(@Nullable String state) {
        return state == null || state.equals(State.PENDING.name())
                ? OverviewSql.Among.ALL
                : state.equals(State.DEAD.name()) || state.equals(State.UNKNOWN.name())
                        ? OverviewSql.Among.DEAD
                        : OverviewSql.Among.WAITING;
    }

    private static @Nullable Object[] values(EventQuery query, long after, long last, int limit) {
        OffsetDateTime since = EventQuery.time(query.since());
        OffsetDateTime until = EventQuery.time(query.until());
        return new @Nullable Object[] {
            after,
            last,
            query.stream(),
            query.stream(),
            query.type(),
            query.type(),
            query.key(),
            query.key(),
            query.aggregateType(),
            query.aggregateType(),
            query.aggregateId(),
            query.aggregateId(),
            query.errorCode(),
            query.errorCode(),
            since,
            since,
            until,
            until,
            query.state(),
            query.state(),
            limit
        };
    }

    /** What it says; empty if it is no longer here. */
    public Optional<EventContent> content(Event event) {
        return rows
                .read("event " + event.eventId(), sql.undeliveredContent, EventContent::of, event.id(), event.eventId())
                .stream()
                .findFirst();
    }

    /** The one with this event id; empty if it was delivered or discarded, or never existed. */
    public Optional<Event> find(UUID eventId) {
        return rows.read("event " + eventId, sql.undeliveredById, Undelivered::event, eventId).stream()
                .findFirst();
    }

    private static Event event(ResultSet row) throws SQLException {
        return new Event(
                row.getLong(1),
                row.getObject(2, UUID.class),
                row.getString(3),
                Rows.maybeText(row, 4),
                row.getString(5),
                State.valueOf(row.getString(6)),
                row.getBoolean(7),
                Rows.time(row, 8),
                row.getInt(9),
                Rows.maybeText(row, 10),
                Rows.maybeText(row, 11),
                Rows.time(row, 12),
                row.getInt(13),
                Rows.maybeText(row, 14),
                Rows.maybeText(row, 15),
                Rows.maybeText(row, 16),
                Optional.ofNullable(row.getObject(17, Integer.class)),
                Rows.maybeTime(row, 18),
                Rows.maybeTime(row, 19),
                Rows.maybeText(row, 20));
    }
}
