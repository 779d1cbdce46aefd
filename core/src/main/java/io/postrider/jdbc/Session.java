// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.internal.Discretion;
import io.postrider.relay.FeedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * One connection of its own, kept as long as it works and replaced when it does not. Every statement is its own
 * transaction. For one thread.
 */
final class Session implements AutoCloseable {
    /** read_only_sql_transaction: what PostgreSQL answers to a write on a standby or a demoted primary. */
    private static final String READ_ONLY = "25006";

    /** One statement and what it brings. */
    @FunctionalInterface
    interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    private final DataSource dataSource;
    private final Duration timeout;
    private final Plans plans;
    private @Nullable Connection connection;

    /** @param timeout how long the database may be silent before the connection is given up */
    Session(DataSource dataSource, Duration timeout) {
        this(dataSource, timeout, System::nanoTime);
    }

    Session(DataSource dataSource, Duration timeout, LongSupplier ticker) {
        this.dataSource = dataSource;
        this.timeout = timeout;
        this.plans = new Plans(ticker);
    }

    /** For one who finds out by reading. */
    static SQLException readOnly() {
        return new SQLException(
                "the server takes no writes: it is a standby, or was demoted. If the URL names several hosts, add"
                        + " targetServerType=primary",
                READ_ONLY);
    }

    <T> T run(String what, Work<T> work) {
        try {
            Connection open = open();
            plans.before(open);
            try {
                return work.on(open);
            } finally {
                plans.after();
            }
        } catch (SQLException e) {
            if (READ_ONLY.equals(e.getSQLState())) {
                end();
            }
            // After an error nothing is certain about the connection, and a new one costs little.
            close();
            throw new FeedException("Could not " + what + ": " + Discretion.firstLine(e), e);
        }
    }

    private Connection open() throws SQLException {
        Connection open = connection;
        if (open == null) {
            open = dataSource.getConnection();
            connection = open;
            open.setAutoCommit(true);
            open.setNetworkTimeout(Runnable::run, (int) timeout.toMillis());
        }
        return open;
    }

    /** A pool would hand the same connection out again, which works but leads to the wrong server. */
    private void end() {
        try {
            if (connection != null) {
                connection.abort(Runnable::run);
            }
        } catch (SQLException e) {
            // It is given up either way.
        }
    }

    @Override
    public void close() {
        Connection open = connection;
        connection = null;
        plans.ofAnotherSession();
        if (open != null) {
            try {
                open.close();
            } catch (SQLException e) {
                // It is given up either way.
            }
        }
    }
}
