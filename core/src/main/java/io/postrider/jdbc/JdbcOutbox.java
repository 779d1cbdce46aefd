// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.internal.Discretion;
import io.postrider.internal.EventRules;
import io.postrider.internal.HeaderJson;
import io.postrider.internal.Sql;
import io.postrider.relay.Bell;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.Objects;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The outbox for plain JDBC.
 *
 * <pre>{@code
 * outbox.transact(tx -> {
 *     orders.insert(tx.connection(), order);
 *     tx.append(OutboxEvent.of("order-events", "OrderPlaced").aggregate("Order", order.id()).json(body).build());
 * });
 * }</pre>
 *
 * <p>Where the transaction is the caller's own, {@code outbox.on(connection).append(event)} appends in it, and
 * {@code outbox.committed()} after the COMMIT wakes the relays of this process; without it they find the event by
 * polling. Thread-safe; what {@link #on} returns is for the thread that uses the connection.
 */
public final class JdbcOutbox {
    private static final Logger log = LoggerFactory.getLogger(JdbcOutbox.class);

    /** What fits a broker's usual limit of 1 MiB with room for headers. */
    public static final int DEFAULT_MAX_PAYLOAD = 900 * 1024;

    private final DataSource dataSource;
    private final TableNames tables;
    private final Sql sql;
    private final int maxPayload;
    private final Bell bell;

    private JdbcOutbox(DataSource dataSource, TableNames tables, int maxPayload, Bell bell) {
        this.dataSource = dataSource;
        this.tables = tables;
        this.sql = new Sql(tables);
        this.maxPayload = maxPayload;
        this.bell = bell;
    }

    public static JdbcOutbox of(DataSource dataSource) {
        return new JdbcOutbox(
                Objects.requireNonNull(dataSource, "dataSource"),
                TableNames.ofDefaults(),
                DEFAULT_MAX_PAYLOAD,
                new Bell());
    }

    public JdbcOutbox withTables(TableNames tables) {
        return new JdbcOutbox(dataSource, tables, maxPayload, bell);
    }

    /** Raises or lowers the payload limit; the destination must take as much. */
    public JdbcOutbox withMaxPayload(int bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("A payload limit of " + bytes + " bytes lets nothing through.");
        }
        return new JdbcOutbox(dataSource, tables, bytes, bell);
    }

    /** Rung after each commit; give it to the relay of the same process. */
    public Bell bell() {
        return bell;
    }

    /** Work on one transaction. */
    @FunctionalInterface
    public interface Work<E extends Exception> {
        void in(Tx tx) throws E;
    }

    /** A transaction that is committed when the work returns, and rolled back when it throws. */
    public interface Tx extends Outbox {
        Connection connection();
    }

    /**
     * Runs the work in a transaction of its own and wakes the relays of this process after the commit.
     *
     * @throws OutboxException if the transaction cannot be begun or committed; what the work throws is passed on
     */
    public <E extends Exception> void transact(Work<E> work) throws E {
        Connection connection = begin();
        try {
            work.in(new OnConnection(connection));
            commit(connection);
        } catch (Throwable e) {
            rollback(connection, e);
            throw e;
        } finally {
            giveBack(connection);
        }
        committed();
    }

    /** The outbox of the transaction that is open on this connection; commit and rollback stay with the caller. */
    public Outbox on(Connection connection) {
        return new OnConnection(connection);
    }

    /** Says that a transaction with events was committed, so that relays of this process look at once. Never throws. */
    public void committed() {
        bell.ring();
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

    private static void commit(Connection connection) {
        try {
            connection.commit();
        } catch (SQLException e) {
            throw new OutboxException(
                    "The transaction was not committed, or its outcome is unknown: " + Discretion.firstLine(e)
                            + ". Look at your data before you repeat it.",
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

    private final class OnConnection implements Tx {
        private final Connection connection;

        OnConnection(Connection connection) {
            this.connection = connection;
        }

        @Override
        public Connection connection() {
            return connection;
        }

        @Override
        public void append(Collection<OutboxEvent> events) {
            if (events.isEmpty()) {
                return;
            }
            OutboxEvent first = events.iterator().next();
            try {
                if (connection.getAutoCommit()) {
                    throw new OutboxException("No transaction is open, so event " + first.type() + " (stream "
                            + first.stream() + ") would not be atomic with your data. Call setAutoCommit(false) before"
                            + " your first statement, or use JdbcOutbox.transact(..).");
                }
                events.forEach(event -> EventRules.checkPayload(event, maxPayload));
                insert(events);
            } catch (SQLException e) {
                throw new OutboxException(
                        "The database refused event " + first.type() + " (stream " + first.stream() + ")"
                                + (events.size() == 1 ? "" : " or one of the " + (events.size() - 1) + " after it")
                                + ": " + Discretion.firstLine(e) + ". Roll your transaction back.",
                        e);
            }
        }

        private void insert(Collection<OutboxEvent> events) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(sql.append)) {
                if (events.size() == 1) {
                    bind(statement, events.iterator().next());
                    statement.executeUpdate();
                    return;
                }
                // The driver sends a batch in one round trip.
                for (OutboxEvent event : events) {
                    bind(statement, event);
                    statement.addBatch();
                }
                statement.executeBatch();
            }
        }

        private void bind(PreparedStatement statement, OutboxEvent event) throws SQLException {
            statement.setObject(1, event.id());
            statement.setString(2, event.stream());
            statement.setString(3, event.key().orElse(null));
            statement.setString(4, event.type());
            statement.setString(5, event.aggregateType().orElse(null));
            statement.setString(6, event.aggregateId().orElse(null));
            statement.setBytes(7, event.payload());
            statement.setString(8, event.contentType().orElse(null));
            statement.setString(9, HeaderJson.write(event.headers()));
            setTime(statement, 10, event.occurredAt());
            if (event.maxAttempts().isPresent()) {
                statement.setInt(11, event.maxAttempts().getAsInt());
            } else {
                statement.setNull(11, Types.INTEGER);
            }
            if (event.notBefore().isPresent()) {
                setTime(statement, 12, event.notBefore().get());
            } else {
                statement.setNull(12, Types.TIMESTAMP_WITH_TIMEZONE);
            }
            statement.setLong(
                    13, event.delay().map(delay -> delay.toNanos() / 1000).orElse(0L));
        }

        private void setTime(PreparedStatement statement, int index, Instant time) throws SQLException {
            statement.setObject(index, time.atOffset(ZoneOffset.UTC));
        }
    }
}
