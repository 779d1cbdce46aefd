// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxEvent;
import io.postrider.handler.Context;
import io.postrider.handler.Handled;
import io.postrider.internal.Discretion;
import io.postrider.internal.SettleOneSql;
import io.postrider.internal.Sql;
import io.postrider.relay.Delivery;
import io.postrider.relay.DestinationDownException;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.PublishException;
import io.postrider.relay.RetryableFailureException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transactions of handlers, each with the settling of its events in it. Thread-safe.
 *
 * <p>The events are settled last, so that their rows are locked for a moment only: a relay that extends the lease of one must
 * not wait for its handler. Whoever comes second to a row, because both believe to own it, waits for the first there, finds
 * nothing to settle, and rolls back.
 */
final class Transactions {
    private static final Logger log = LoggerFactory.getLogger(Transactions.class);

    private final JdbcOutbox outbox;
    private final Settlement settlement;

    Transactions(JdbcOutbox outbox, String name) {
        this(outbox, new Settlement(new Sql(outbox.tables()), new SettleOneSql(outbox.tables()), name));
    }

    private Transactions(JdbcOutbox outbox, Settlement settlement) {
        this.outbox = outbox;
        this.settlement = settlement;
    }

    Transactions name(String name) {
        return new Transactions(outbox, settlement.name(name));
    }

    /** What a handler does in it. */
    interface Body {
        Handled in(SameTransaction.Tx tx) throws Exception;
    }

    private record Running(Connection connection, JdbcOutbox.Joined joined, Context context)
            implements SameTransaction.Tx {
        @Override
        public void append(Collection<OutboxEvent> events) {
            joined.append(events);
        }
    }

    /** Returns {@link Handled.Settled}, or whatever else the body returned or threw after it was rolled back. */
    Handled run(List<Delivery> deliveries, Context context, Body body) throws Exception {
        if (deliveries.stream().anyMatch(each -> each.id() < 1)) {
            throw new PermanentFailureException(
                    "NO_ROW",
                    "The event is no row of this outbox, so it cannot be settled in the transaction of its handler. Where"
                            + " events come from a broker use JdbcInbox.transact(..) in the handler.");
        }
        Connection connection = begin();
        try {
            // An interrupt does not reach a statement.
            context.onInterrupt(() -> abort(connection));
            Running tx = new Running(connection, outbox.join(connection), context);
            Handled handled = body.in(tx);
            if (!(handled instanceof Handled.Done)) {
                connection.rollback();
                return handled;
            }
            settlement.settle(connection, deliveries);
            commit(connection, deliveries);
            tx.joined.committed();
            return new Handled.Settled();
        } catch (PublishException e) {
            rollback(connection, e);
            throw e;
        } catch (Throwable e) {
            if (isLost(connection)) {
                throw new DestinationDownException(
                        "CONNECTION_LOST", "The handler's transaction lost its connection", e);
            }
            rollback(connection, e);
            throw e;
        } finally {
            giveBack(connection);
        }
    }

    private Connection begin() {
        try {
            Connection connection = outbox.dataSource().getConnection();
            try {
                connection.setAutoCommit(false);
            } catch (SQLException e) {
                giveBack(connection);
                throw e;
            }
            return connection;
        } catch (SQLException e) {
            throw new DestinationDownException(
                    "NO_CONNECTION", "No transaction could be begun for a handler: " + Discretion.firstLine(e), e);
        }
    }

    /** If nobody says whether it was committed, the table does: what was settled with it is gone. */
    private void commit(Connection connection, List<Delivery> deliveries) throws SQLException {
        try {
            connection.commit();
        } catch (SQLException e) {
            boolean lost = isLost(connection);
            abort(connection);
            // Whoever interrupted this wants an answer, and a pool gives no connection to the interrupted.
            Thread.interrupted();
            Set<Long> left;
            try (Connection other = outbox.dataSource().getConnection()) {
                other.setAutoCommit(true);
                left = settlement.unsettled(other, deliveries);
            } catch (SQLException unreachable) {
                e.addSuppressed(unreachable);
                throw new DestinationDownException(
                        "COMMIT_IN_DOUBT", "The answer to a COMMIT was lost; the table will tell", e);
            }
            if (left.isEmpty()) {
                log.debug("The answer to a COMMIT was lost; it was done");
            } else if (lost) {
                throw new DestinationDownException("CONNECTION_LOST", "A transaction was not committed", e);
            } else {
                throw new RetryableFailureException(
                        "NOT_COMMITTED", "The transaction was not committed: " + Discretion.firstLine(e), e);
            }
        }
    }

    private static boolean isLost(Connection connection) {
        try {
            return !connection.isValid(2);
        } catch (SQLException e) {
            return true;
        }
    }

    /** Not once it has been given back: it may be somebody else's then. */
    private static void abort(Connection connection) {
        try {
            synchronized (connection) {
                if (!connection.isClosed()) {
                    connection.abort(Runnable::run);
                }
            }
        } catch (SQLException e) {
            log.debug("A connection could not be ended", e);
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
            synchronized (connection) {
                connection.close();
            }
        } catch (SQLException e) {
            log.debug("A connection could not be closed; its transaction had ended before", e);
        }
    }
}
