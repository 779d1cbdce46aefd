// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.internal.HistorySql;
import io.postrider.internal.Rows;
import io.postrider.table.TableNames;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What became of events. Thread-safe; a {@link Tail} is not. */
public final class History {
    private static final int RECENT_PAGES = 64;
    private static final int RECENT_SECONDS = 60;

    private final Rows rows;
    private final HistorySql sql;

    private History(DataSource dataSource, TableNames tables) {
        this.rows = new Rows(dataSource);
        this.sql = new HistorySql(tables);
    }

    public static History of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    public static History of(DataSource dataSource, TableNames tables) {
        return new History(dataSource, tables);
    }

    /**
     * One event that was delivered or discarded.
     *
     * @param by the relay that delivered it, or the person who discarded it
     * @param took from when it was appended
     * @param errorCode of its last failed attempt
     */
    public record Entry(
            UUID eventId,
            String stream,
            Optional<String> key,
            String type,
            String outcome,
            Instant settledAt,
            String by,
            Duration took,
            Optional<String> aggregateType,
            Optional<String> aggregateId,
            Optional<String> contentType,
            int attempts,
            Optional<String> errorCode,
            Optional<String> errorMessage,
            Instant createdAt) {

        static Entry of(ResultSet row) throws SQLException {
            return new Entry(
                    row.getObject(1, UUID.class),
                    row.getString(2),
                    Rows.maybeText(row, 3),
                    row.getString(4),
                    row.getString(5),
                    Rows.time(row, 6),
                    row.getString(7),
                    Rows.maybeSeconds(row, 8).orElse(Duration.ZERO),
                    Rows.maybeText(row, 9),
                    Rows.maybeText(row, 10),
                    Rows.maybeText(row, 11),
                    row.getInt(12),
                    Rows.maybeText(row, 13),
                    Rows.maybeText(row, 14),
                    Rows.time(row, 15));
        }
    }

    /**
     * What became of one event, newest first: one that was appended again after its delivery, or delivered twice because a
     * relay died, may have several.
     */
    public List<Entry> find(UUID eventId) {
        return rows.read("event " + eventId, sql.byEventId, Entry::of, eventId, eventId);
    }

    /** What it said; empty if it is no longer kept. */
    public Optional<EventContent> content(Entry entry) {
        OffsetDateTime at = entry.settledAt().atOffset(ZoneOffset.UTC);
        return rows
                .read(
                        "event " + entry.eventId(),
                        sql.content,
                        EventContent::of,
                        entry.eventId(),
                        at,
                        entry.eventId(),
                        at)
                .stream()
                .findFirst();
    }

    /**
     * What was published in the last minute, or so much of it as stands in the last pages of the history.
     *
     * @param stream empty for all together
     * @param perSecond how many
     */
    public record Recent(
            Optional<String> stream, long count, double perSecond, Duration p50, Duration p95, Duration p99) {}

    /** Of each stream, and of all; empty if nothing was, or if no history is kept. */
    public List<Recent> recent() {
        Today today = today();
        return rows.read(
                "the history",
                sql.recent,
                History::recent,
                from(today.day()),
                from(today.day().plusDays(1)),
                "(" + Math.max(0, today.pages() - RECENT_PAGES) + ",0)",
                RECENT_SECONDS,
                RECENT_SECONDS);
    }

    private static Recent recent(ResultSet row) throws SQLException {
        long count = row.getLong(2);
        Double[] took = (Double[]) row.getArray(4).getArray();
        return new Recent(
                Rows.maybeText(row, 1),
                count,
                count / Math.max(1, row.getDouble(3)),
                seconds(took[0]),
                seconds(took[1]),
                seconds(took[2]));
    }

    private static Duration seconds(double seconds) {
        return Duration.ofNanos((long) (seconds * 1e9));
    }

    private record Today(LocalDate day, long pages) {}

    private Today today() {
        return rows.read("the history", sql.today, row -> new Today(LocalDate.parse(row.getString(1)), row.getLong(2)))
                .get(0);
    }

    static OffsetDateTime from(LocalDate day) {
        return day.atStartOfDay().atOffset(ZoneOffset.UTC);
    }

    /** Searches it, newest first. */
    public HistorySearch search(EventQuery query) {
        return new HistorySearch(rows, sql, query);
    }

    /** Follows the history from its end on; of one stream, or of all. */
    public Tail tail(@Nullable String stream) {
        return new Tail(stream);
    }

    /**
     * Reads on in today's partition by the places of its rows, since the history has no index by time: a partition is only ever
     * written at its end. Sessions that settle at once fill neighbouring pages, so the last ones are read again each time.
     */
    public final class Tail {
        private static final int PAGES_READ_AGAIN = 16;

        private final @Nullable String stream;
        private @Nullable LocalDate day;
        private long page;
        private Set<Place> seen = new HashSet<>();

        private Tail(@Nullable String stream) {
            this.stream = stream;
        }

        private record Placed(Place place, Entry entry) {}

        /** What has come since the last call; the first gives the last few. */
        public List<Entry> next() {
            Today today = today();
            if (day == null) {
                day = today.day();
                page = Math.max(0, today.pages() - 1);
            }
            List<Entry> found = new ArrayList<>(read(day));
            if (!today.day().equals(day)) {
                day = today.day();
                page = 0;
                seen = new HashSet<>();
                found.addAll(read(day));
            }
            return found;
        }

        private List<Entry> read(LocalDate of) {
            List<Placed> placed = rows.read(
                    "the history", sql.tail, Tail::placed, from(of), from(of.plusDays(1)), "(" + page + ",0)");
            if (placed.isEmpty()) {
                return List.of();
            }
            long last = placed.get(placed.size() - 1).place().page();
            page = Math.max(page, last - PAGES_READ_AGAIN);
            List<Entry> fresh = placed.stream()
                    .filter(each -> !seen.contains(each.place()))
                    .map(Placed::entry)
                    .filter(each -> stream == null || stream.equals(each.stream()))
                    .toList();
            Set<Place> kept = new HashSet<>();
            placed.stream()
                    .map(Placed::place)
                    .filter(each -> each.page() >= page)
                    .forEach(kept::add);
            seen = kept;
            return fresh;
        }

        private static Placed placed(ResultSet row) throws SQLException {
            return new Placed(Place.of(row.getString(16)), Entry.of(row));
        }
    }
}
