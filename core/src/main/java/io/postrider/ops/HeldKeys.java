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

/** Keys of which nothing goes before a failed event does. Thread-safe. */
public final class HeldKeys {
    /** How many pending rows are looked through for those behind one key. */
    private static final int SEARCHED_PER_KEY = 10_000;

    private final Rows rows;
    private final OverviewSql sql;

    private HeldKeys(DataSource dataSource, TableNames tables) {
        this.rows = new Rows(dataSource);
        this.sql = new OverviewSql(tables);
    }

    public static HeldKeys of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    public static HeldKeys of(DataSource dataSource, TableNames tables) {
        return new HeldKeys(dataSource, tables);
    }

    /**
     * One key and what holds it.
     *
     * @param rowId the holding event's row
     * @param state RETRYING: it is tried again at {@code retryAt}; DEAD or UNKNOWN: somebody must act
     * @param since when it failed last
     * @param behind how many pending events of the key were found behind it
     * @param more whether there may be more of them, since only a part was looked through
     */
    public record HeldKey(
            String stream,
            String key,
            long rowId,
            UUID eventId,
            String type,
            Undelivered.State state,
            int attempts,
            Optional<String> errorCode,
            Optional<String> errorMessage,
            Instant since,
            Optional<Instant> retryAt,
            long behind,
            boolean more) {}

    /**
     * At most so many, of this stream and key or of all, those held for longest first.
     *
     * @param limit 1 to 1,000
     */
    public List<HeldKey> find(@Nullable String stream, @Nullable String key, int limit) {
        if (limit < 1 || limit > 1000) {
            throw new IllegalArgumentException("1 to 1000 held keys are shown at once, not " + limit + ".");
        }
        return rows.read("held keys", sql.heldKeys, HeldKeys::heldKey, stream, key, limit, SEARCHED_PER_KEY);
    }

    private static HeldKey heldKey(ResultSet row) throws SQLException {
        boolean retrying = "WAITING".equals(row.getString(6));
        return new HeldKey(
                row.getString(1),
                row.getString(2),
                row.getLong(3),
                row.getObject(4, UUID.class),
                row.getString(5),
                retrying ? Undelivered.State.RETRYING : Undelivered.State.valueOf(row.getString(6)),
                row.getInt(7),
                Rows.maybeText(row, 8),
                Rows.maybeText(row, 9),
                Rows.time(row, 10),
                retrying ? Rows.maybeTime(row, 11) : Optional.empty(),
                row.getLong(12),
                row.getBoolean(13));
    }
}
