// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.internal.OverviewSql;
import io.postrider.internal.Rows;
import io.postrider.table.TableNames;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
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
    private final Rows rows;
    private final OverviewSql sql;

    private History(DataSource dataSource, TableNames tables) {
        this.rows = new Rows(dataSource);
        this.sql = new OverviewSql(tables);
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
     */
    public record Entry(
            UUID eventId,
            String stream,
            Optional<String> key,
            String type,
            String outcome,
            Instant settledAt,
            String by,
            Duration took) {}

    /** Follows the history from its end on; of one stream, or of all. */
    public Tail tail(@Nullable String stream) {
        return new Tail(stream);
    }

    /**
     * Reads on in today's partition by the places of its rows, since the history has no index: a partition is only ever
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

        private record Place(long page, int row) {}

        private record Placed(Place place, Entry entry) {}

        private record Today(LocalDate day, long pages) {}

        /** What has come since the last call; the first gives the last few. */
        public List<Entry> next() {
            Today today = rows.read(
                            "the history",
                            sql.today,
                            row -> new Today(LocalDate.parse(row.getString(1)), row.getLong(2)))
                    .get(0);
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
                    "the history",
                    sql.tail,
                    Tail::placed,
                    of.atStartOfDay().atOffset(ZoneOffset.UTC),
                    of.plusDays(1).atStartOfDay().atOffset(ZoneOffset.UTC),
                    "(" + page + ",0)");
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
            String[] place = row.getString(1).replaceAll("[()]", "").split(",", 2);
            Entry entry = new Entry(
                    row.getObject(2, UUID.class),
                    row.getString(3),
                    Rows.maybeText(row, 4),
                    row.getString(5),
                    row.getString(6),
                    Rows.time(row, 7),
                    row.getString(8),
                    Rows.maybeSeconds(row, 9).orElse(Duration.ZERO));
            return new Placed(new Place(Long.parseLong(place[0]), Integer.parseInt(place[1])), entry);
        }
    }
}
