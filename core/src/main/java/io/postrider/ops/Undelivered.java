// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.internal.OverviewSql;
import io.postrider.internal.Rows;
import io.postrider.table.TableNames;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Events that have not been delivered, without their payloads. Thread-safe. */
public final class Undelivered {
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

    /** One event, as it was when it was looked at. */
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
            Instant createdAt) {}

    /**
     * A page of them, oldest first.
     *
     * @param afterId the row id of the last one of the page before, or 0
     * @param limit 1 to 1,000
     */
    public List<Event> find(@Nullable String stream, @Nullable String key, long afterId, int limit) {
        if (limit < 1 || limit > 1000) {
            throw new IllegalArgumentException("A page has 1 to 1000 events, not " + limit + ".");
        }
        if (stream == null && key == null) {
            return rows.read("undelivered events", sql.undelivered, Undelivered::event, afterId, limit);
        }
        String text = key == null ? sql.undeliveredOfStream : sql.undeliveredOfKey;
        @Nullable Object[] values = {stream, key, afterId, limit, limit, limit, limit};
        return rows.read("undelivered events", text, Undelivered::event, values);
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
                Rows.time(row, 12));
    }
}
