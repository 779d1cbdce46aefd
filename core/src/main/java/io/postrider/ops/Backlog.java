// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.internal.OverviewSql;
import io.postrider.internal.Rows;
import io.postrider.table.TableNames;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * What is not delivered, stream by stream. Counts stop at a bound, 100,000 unless told otherwise, so that looking costs no
 * more when millions are stuck. Thread-safe.
 */
public final class Backlog {
    private final Rows rows;
    private final OverviewSql sql;
    private final long bound;

    private Backlog(Rows rows, OverviewSql sql, long bound) {
        this.rows = rows;
        this.sql = sql;
        this.bound = bound;
    }

    public static Backlog of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    public static Backlog of(DataSource dataSource, TableNames tables) {
        return new Backlog(new Rows(dataSource), new OverviewSql(tables), 100_000);
    }

    /** Counts no further than this; a count that equals it means so many or more. */
    public Backlog upTo(long most) {
        if (most < 1) {
            throw new IllegalArgumentException("A count stops at 1 or more, not at " + most + ".");
        }
        return new Backlog(rows, sql, most);
    }

    public long bound() {
        return bound;
    }

    /**
     * One stream, as it was when it was looked at.
     *
     * @param group the relays that deliver it; empty if no relay has met it yet
     * @param competing whether it is a work queue, of which events are delivered in no order
     * @param pending may be sent now, unless its key is held
     * @param retrying failed, to be tried again
     * @param delayed to be sent later, as its writer wished, and not due yet
     * @param leased left to the process that wrote it, for a moment; of a competing stream: being delivered
     * @param heldKeys keys of which nothing goes before a failed event does
     * @param dead not tried again unless a person says so
     * @param unknown may or may not have had their effect; not tried again until somebody has found out
     * @param oldest for how long the oldest one has been waiting that is neither dead nor unknown nor delayed
     */
    public record Stream(
            String name,
            Optional<String> group,
            boolean competing,
            long pending,
            long retrying,
            long delayed,
            long leased,
            long heldKeys,
            long dead,
            long unknown,
            Optional<Duration> oldest,
            Optional<Pause> pause) {

        /** What will be delivered, now or later. */
        public long undelivered() {
            return pending + retrying + delayed + leased;
        }
    }

    /** Since when a stream is paused, by whom and why. */
    public record Pause(Instant since, String by, String reason) {}

    /** All streams that are known or have undelivered events, by name. */
    public List<Stream> streams() {
        return rows.read("the backlog", sql.backlog, Backlog::stream, bound);
    }

    private static Stream stream(ResultSet row) throws SQLException {
        return new Stream(
                row.getString(1),
                Rows.maybeText(row, 2),
                row.getBoolean(14),
                row.getLong(3),
                row.getLong(4),
                row.getLong(5),
                row.getLong(6),
                row.getLong(7),
                row.getLong(8),
                row.getLong(9),
                Rows.maybeSeconds(row, 10),
                pause(row, 11));
    }

    /** From its columns, of which this is the first: since when, by whom, why. */
    static Optional<Pause> pause(ResultSet row, int column) throws SQLException {
        String by = Rows.maybeText(row, column + 1).orElse("?");
        String reason = Rows.maybeText(row, column + 2).orElse("");
        return Rows.maybeTime(row, column).map(since -> new Pause(since, by, reason));
    }
}
