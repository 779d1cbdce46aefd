// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxException;
import io.postrider.internal.Discretion;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A transaction that is committed when its work returns, and rolled back when it throws. Thread-safe. */
final class OwnTransaction {
    private static final Logger log = LoggerFactory.getLogger(OwnTransaction.class);

    private final DataSource dataSource;
    private final String advice;

    /** @param advice what to do when nobody can say whether it was committed */
    OwnTransaction(DataSource dataSource, String advice) {
        this.dataSource = dataSource;
        this.advice = advice;
    }

    @FunctionalInterface
    interface Work<T, E extends Exception> {
        T on(Connection connection) throws E;
    }

    /**
     * Returns what the work returns, after the commit.
     *
     * @throws OutboxException if the transaction cannot be begun or committed; what the work throws is passed on
     */
    <T, E extends Exception> T run(Work<T, E> work) throws E {
        Connection connection = begin();
        try {
            T result = work.on(connection);
            commit(connection);
            return result;
        } catch (Throwable e) {
            rollback(connection, e);
            throw e;
        } finally {
            giveBack(connection);
        }
    }

    private Connection begin() {
        try {
            Connection connection = dataSource.getConnection();
            try {
                connection.setAutoCommit(false);
            } catch (SQLException e) {
                giveBack(connection);
                throw e;
            }
            return connection;
        } catch (SQLException e) {
            throw new OutboxException(
                    "No transaction could be begun, so nothing was done: " + Discretion.firstLine(e), e);
        }
    }

    private void commit(Connection connection) {
        try {
            connection.commit();
        } catch (SQLException e) {
            throw new OutboxException(
                    "The transaction was not committed, or its outcome is unknown: " + Discretion.firstLine(e) + ". "
                            + advice,
                    e);
        }
    }

    private static void rollback(Connection connection, Throwable why) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            why.addSuppressed(e);
        }
    }

    private static void giveBack(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            log.debug("A connection could not be closed; its transaction had ended before", e);
        }
    }
}
