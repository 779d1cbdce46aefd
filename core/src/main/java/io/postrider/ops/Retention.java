// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.OutboxException;
import io.postrider.internal.Discretion;
import io.postrider.internal.RetentionSql;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the history's partitions for the days to come, and drops, deletes or archives what is old. Undelivered and dead events
 * are never touched. Run by a {@link Housekeeper}; may be run at any time besides, also by several at once. Thread-safe.
 */
public final class Retention {
    private static final Logger log = LoggerFactory.getLogger(Retention.class);
    private static final int DAYS_AHEAD = 14;
    private static final String LOCK_NOT_AVAILABLE = "55P03";
    /** What one transaction moves: half a megabyte, some thousand rows. */
    private static final long PAGES_AT_ONCE = 64;

    private final DataSource dataSource;
    private final TableNames tables;
    private final RetentionSql sql;
    private final Rule rule;

    private enum Mode {
        DROP,
        DELETE,
        ARCHIVE
    }

    private record Rule(Mode mode, Duration keep, Duration keepAudit) {}

    /**
     * Drops partitions, and keeps the audit table for a year.
     *
     * @param keep how long delivered events stay in the history, a day at least; whole days count where partitions are
     *     dropped
     */
    public Retention(DataSource dataSource, TableNames tables, Duration keep) {
        this(dataSource, tables, new Rule(Mode.DROP, keep, Duration.ofDays(365)));
        // Today's partition would go.
        if (keep.compareTo(Duration.ofDays(1)) < 0) {
            throw new IllegalArgumentException("To keep the history for " + keep + " is too short: a day at least.");
        }
    }

    private Retention(DataSource dataSource, TableNames tables, Rule rule) {
        this.dataSource = dataSource;
        this.tables = tables;
        this.sql = new RetentionSql(tables);
        this.rule = rule;
    }

    /** Deletes rows in small batches instead of dropping partitions, which stay behind empty. */
    public Retention deleting() {
        return new Retention(dataSource, tables, new Rule(Mode.DELETE, rule.keep, rule.keepAudit));
    }

    /** Moves rows to {@code outbox_archive} in small batches instead of dropping partitions. Nothing prunes the archive. */
    public Retention archiving() {
        return new Retention(dataSource, tables, new Rule(Mode.ARCHIVE, rule.keep, rule.keepAudit));
    }

    /** How long it is known who did what by hand; a year by default, 30 days at least. */
    public Retention keepAudit(Duration keepAudit) {
        if (keepAudit.compareTo(Duration.ofDays(30)) < 0) {
            throw new IllegalArgumentException(
                    "To keep the audit table for " + keepAudit + " is too short: 30 days at least.");
        }
        return new Retention(dataSource, tables, new Rule(rule.mode, rule.keep, keepAudit));
    }

    /**
     * What one run did.
     *
     * @param rowsDeleted besides those in dropped partitions
     * @param busy whether it left something for the next run, because somebody was reading
     */
    public record Result(
            int partitionsMade, int partitionsDropped, long rowsDeleted, long rowsArchived, boolean busy) {}

    /** Makes the partitions of the days to come; returns how many were missing. */
    public int prepare() {
        return run(this::prepare);
    }

    public Result run() {
        Result result = run(connection -> {
            int made = prepare(connection);
            Tally tally = new Tally();
            try {
                prune(connection, tally);
            } catch (SQLException e) {
                if (!LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                    throw e;
                }
                tally.busy = true;
            }
            return new Result(made, tally.dropped, tally.deleted, tally.archived, tally.busy);
        });
        if (result.partitionsDropped() > 0 || result.rowsDeleted() > 0 || result.rowsArchived() > 0) {
            log.info(
                    "Pruned {} days of history and {} rows besides, archived {}",
                    result.partitionsDropped(),
                    result.rowsDeleted(),
                    result.rowsArchived());
        }
        return result;
    }

    /** What was done so far, also if it ends early. */
    private static final class Tally {
        private int dropped;
        private long deleted;
        private long archived;
        private boolean busy;
    }

    private int prepare(Connection connection) throws SQLException {
        return (int) number(connection, sql.prepareHistory, DAYS_AHEAD);
    }

    private void prune(Connection connection, Tally tally) throws SQLException {
        long batch;
        do {
            batch = update(connection, sql.pruneAttempts);
            tally.deleted += batch;
        } while (batch > 0);
        tally.deleted += number(connection, sql.pruneAudit, rule.keepAudit.toSeconds());
        while (rule.mode == Mode.DROP && drop(connection)) {
            tally.dropped++;
        }
        trim(connection, tally);
    }

    /** Page by page, each batch a transaction: one that dies has moved a batch or not, and the next one begins anew. */
    private void trim(Connection connection, Tally tally) throws SQLException {
        boolean archive = rule.mode == Mode.ARCHIVE;
        for (Part part : parts(connection)) {
            for (long page = 0; page < part.pages(); page += PAGES_AT_ONCE) {
                long rows = number(
                        connection,
                        sql.trimHistory,
                        rule.keep.toSeconds(),
                        part.name(),
                        page,
                        page + PAGES_AT_ONCE,
                        archive);
                if (archive) {
                    tally.archived += rows;
                } else {
                    tally.deleted += rows;
                }
            }
        }
    }

    /** A partition, or the overflow table, which alone is trimmed where partitions are dropped. */
    private record Part(String name, long pages) {}

    private List<Part> parts(Connection connection) throws SQLException {
        List<Part> parts = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(sql.oldHistory)) {
            statement.setLong(1, rule.keep.toSeconds());
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    Part part = new Part(rows.getString(1), rows.getLong(2));
                    if (rule.mode != Mode.DROP || part.name().equals("outbox_history_overflow")) {
                        parts.add(part);
                    }
                }
            }
        }
        return parts;
    }

    private boolean drop(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.dropHistory)) {
            statement.setLong(1, rule.keep.toSeconds());
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() && rows.getString(1) != null;
            }
        }
    }

    private static long number(Connection connection, String text, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getLong(1);
            }
        }
    }

    private long update(Connection connection, String text) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            statement.setLong(1, rule.keep.toSeconds());
            return statement.executeUpdate();
        }
    }

    private interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    private <T> T run(Work<T> work) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(true);
            return work.on(connection);
        } catch (SQLException e) {
            throw new OutboxException(
                    "The history could not be pruned: " + Discretion.firstLine(e) + ". Delivery goes on.", e);
        }
    }
}
