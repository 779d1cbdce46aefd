// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.internal.HistorySql;
import io.postrider.internal.Rows;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One search of the history. Goes back from the end of the newest day's partition, by places, and no further at once than
 * a fixed number of pages: the next call goes on from there. Thread-safe.
 */
public final class HistorySearch {
    private static final int PAGES_AT_ONCE = 4_000;
    private static final int FIRST_CHUNK = 32;
    /** Sessions that settle at once fill neighbouring pages: times are about in order, not quite. */
    private static final int DISORDER = 128;

    private static final Pattern POSITION = Pattern.compile("(\\d{4}-\\d\\d-\\d\\d)\\.(\\d{1,10})\\.(\\d{1,5})");

    private final Rows rows;
    private final HistorySql sql;
    private final EventQuery query;

    HistorySearch(Rows rows, HistorySql sql, EventQuery query) {
        this.rows = rows;
        this.sql = sql;
        this.query = query;
    }

    /**
     * A page of what was found.
     *
     * @param next where to go on; empty if there is nothing further
     * @param searchedTo the day in which the search stopped
     */
    public record Page(List<History.Entry> entries, Optional<String> next, Optional<LocalDate> searchedTo) {}

    private record Day(LocalDate day, long pages) {}

    private record Placed(Place place, History.Entry entry) {}

    /**
     * A page of those that match, about newest first. It may be short, or empty, while there is more further back.
     *
     * @param from what the page before said in {@code next}, or null
     * @param limit 1 to 1,000
     * @throws IllegalArgumentException if {@code from} is nothing that a page said
     */
    public Page page(@Nullable String from, int limit) {
        EventQuery.checked(limit);
        Optional<Position> start = from == null ? Optional.empty() : Optional.of(Position.of(from));
        List<History.Entry> found = new ArrayList<>();
        long budget = PAGES_AT_ONCE;
        for (Day day : rows.read("the history", sql.days, HistorySearch::day)) {
            if (isOutside(day, start)) {
                continue;
            }
            Place end = start.filter(at -> at.day().equals(day.day()))
                    .map(Position::place)
                    .orElse(end(day));
            long first = first(day);
            long chunk = FIRST_CHUNK;
            while (end.page() > first || (end.page() == first && end.row() > 0)) {
                if (budget <= 0) {
                    return new Page(
                            sorted(found),
                            Optional.of(new Position(day.day(), end).toString()),
                            Optional.of(day.day()));
                }
                Place begin = new Place(Math.max(first, end.page() - chunk), 0);
                List<Placed> placed = read(day, begin, end, limit - found.size());
                placed.forEach(each -> found.add(each.entry()));
                if (found.size() == limit) {
                    Place last = placed.get(placed.size() - 1).place();
                    return new Page(
                            sorted(found),
                            Optional.of(new Position(day.day(), last).toString()),
                            Optional.of(day.day()));
                }
                budget -= end.page() - begin.page() + 1;
                end = begin;
                chunk *= 2;
            }
        }
        return new Page(sorted(found), Optional.empty(), Optional.empty());
    }

    private static List<History.Entry> sorted(List<History.Entry> entries) {
        entries.sort(Comparator.comparing(History.Entry::settledAt).reversed());
        return List.copyOf(entries);
    }

    private boolean isOutside(Day day, Optional<Position> start) {
        Instant since = query.since();
        Instant until = query.until();
        return start.filter(at -> at.day().isBefore(day.day())).isPresent()
                || (until != null && !History.from(day.day()).toInstant().isBefore(until))
                || (since != null
                        && !History.from(day.day().plusDays(1)).toInstant().isAfter(since));
    }

    /** The first page that can hold what is asked for. */
    private long first(Day day) {
        Instant since = query.since();
        if (since == null || !History.from(day.day()).toInstant().isBefore(since)) {
            return 0;
        }
        return Math.max(0, pageOf(day, since) - DISORDER);
    }

    private Place end(Day day) {
        Instant until = query.until();
        if (until == null || !until.isBefore(History.from(day.day().plusDays(1)).toInstant())) {
            return new Place(day.pages(), 0);
        }
        return new Place(Math.min(day.pages(), pageOf(day, until) + DISORDER), 0);
    }

    private long pageOf(Day day, Instant time) {
        return rows.read(
                        "the history",
                        sql.pageOfTime,
                        row -> row.getLong(1),
                        History.from(day.day()),
                        History.from(day.day().plusDays(1)),
                        time.atOffset(ZoneOffset.UTC),
                        day.pages())
                .get(0);
    }

    private List<Placed> read(Day day, Place begin, Place end, int limit) {
        Instant dayStart = History.from(day.day()).toInstant();
        Instant dayEnd = History.from(day.day().plusDays(1)).toInstant();
        Instant since = query.since();
        Instant until = query.until();
        return rows.read(
                "the history",
                sql.chunk,
                HistorySearch::placed,
                (since == null || since.isBefore(dayStart) ? dayStart : since).atOffset(ZoneOffset.UTC),
                (until == null || until.isAfter(dayEnd) ? dayEnd : until).atOffset(ZoneOffset.UTC),
                begin.toString(),
                end.toString(),
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
                query.state(),
                query.state(),
                limit);
    }

    private static Day day(ResultSet row) throws SQLException {
        return new Day(LocalDate.parse(row.getString(1)), row.getLong(2));
    }

    private static Placed placed(ResultSet row) throws SQLException {
        return new Placed(Place.of(row.getString(16)), History.Entry.of(row));
    }

    /** Where a search goes on: before this row of this day. */
    private record Position(LocalDate day, Place place) {
        static Position of(String text) {
            Matcher parts = POSITION.matcher(text);
            if (!parts.matches()) {
                throw new IllegalArgumentException("'" + text + "' is no place in the history. Start at its end.");
            }
            return new Position(
                    LocalDate.parse(parts.group(1)),
                    new Place(Long.parseLong(parts.group(2)), Integer.parseInt(parts.group(3))));
        }

        @Override
        public String toString() {
            return day + "." + place.page() + "." + place.row();
        }
    }
}
