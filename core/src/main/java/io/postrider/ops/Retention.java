// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.OutboxException;
import io.postrider.internal.Discretion;
import io.postrider.internal.OperatorSql;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the history's partitions for the days to come and drops those that are old. Undelivered and dead events are never
 * touched. Run by one relay every hour; may be run at any time besides. Thread-safe.
 */
public final class Retention {
    private static final Logger log = LoggerFactory.getLogger(Retention.class);
    private static final int DAYS_AHEAD = 14;
    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private final DataSource dataSource;
    private final OperatorSql sql;
    private final long keepSeconds;

    /** @param keep how long delivered events stay in the history; whole days count */
    public Retention(DataSource dataSource, TableNames tables, Duration keep) {
        this.dataSource = dataSource;
        this.sql = new OperatorSql(tables);
        this.keepSeconds = keep.toSeconds();
    }

    /**
     * What one run did.
     *
     * @param busy whether it left old partitions for the next run, because somebody was reading
     */
    public record Result(int partitionsMade, int partitionsDropped, long rowsDeleted, boolean busy) {}

    public Result run() {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(true);
            int made = (int) number(connection, sql.prepareHistory, DAYS_AHEAD);
            int dropped = 0;
            boolean busy = false;
            try {
                while (drop(connection)) {
                    dropped++;
                }
            } catch (SQLException e) {
                if (!LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                    throw e;
                }
                busy = true;
            }
            long deleted = delete(connection, sql.pruneOverflow);
            long batch;
            do {
                batch = delete(connection, sql.pruneAttempts);
                deleted += batch;
            } while (batch > 0);
            if (dropped > 0 || deleted > 0) {
                log.info("Pruned {} days of history and {} rows besides", dropped, deleted);
            }
            return new Result(made, dropped, deleted, busy);
        } catch (SQLException e) {
            throw new OutboxException(
                    "The history could not be pruned: " + Discretion.firstLine(e) + ". Delivery goes on.", e);
        }
    }

    private boolean drop(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.dropHistory)) {
            statement.setLong(1, keepSeconds);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() && rows.getString(1) != null;
            }
        }
    }

    private static long number(Connection connection, String text, int value) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            statement.setInt(1, value);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getLong(1);
            }
        }
    }

    private long delete(Connection connection, String text) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            statement.setLong(1, keepSeconds);
            return statement.executeUpdate();
        }
    }
}
