// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.internal.OperatorSql;
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

/** Who did what by hand, when and why. Thread-safe. */
public final class Audit {
    private final Rows rows;
    private final OperatorSql sql;

    private Audit(DataSource dataSource, TableNames tables) {
        this.rows = new Rows(dataSource);
        this.sql = new OperatorSql(tables);
    }

    public static Audit of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    public static Audit of(DataSource dataSource, TableNames tables) {
        return new Audit(dataSource, tables);
    }

    /**
     * One action on one event or stream.
     *
     * @param id its row; pages are cut by it
     * @param eventId empty for an action on a stream
     */
    public record Entry(
            long id, Instant at, String who, String action, String stream, Optional<UUID> eventId, String reason) {}

    /** Which to look at; what is not given matches all. */
    public record Query(
            @Nullable UUID eventId,
            @Nullable String stream,
            @Nullable String who,
            @Nullable String action) {

        public static Query all() {
            return new Query(null, null, null, null);
        }
    }

    /**
     * A page of them, newest first.
     *
     * @param beforeId the row of the last one of the page before, or {@link Long#MAX_VALUE}
     * @param limit 1 to 1,000
     */
    public List<Entry> find(Query query, long beforeId, int limit) {
        if (limit < 1 || limit > 1000) {
            throw new IllegalArgumentException("A page has 1 to 1000 audit entries, not " + limit + ".");
        }
        return rows.read(
                "the audit table",
                sql.audit,
                Audit::entry,
                beforeId,
                query.eventId(),
                query.eventId(),
                query.stream(),
                query.stream(),
                query.who(),
                query.who(),
                query.action(),
                query.action(),
                limit);
    }

    private static Entry entry(ResultSet row) throws SQLException {
        return new Entry(
                row.getLong(1),
                Rows.time(row, 2),
                row.getString(3),
                row.getString(4),
                row.getString(5),
                Optional.ofNullable(row.getObject(6, UUID.class)),
                row.getString(7));
    }
}
