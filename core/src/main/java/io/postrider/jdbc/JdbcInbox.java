// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxException;
import io.postrider.inbox.Inbox;
import io.postrider.internal.ConsumerRules;
import io.postrider.internal.Discretion;
import io.postrider.internal.InboxSql;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The inbox for plain JDBC.
 *
 * <pre>{@code
 * JdbcInbox inbox = JdbcInbox.of(dataSource);
 * inbox.transact("billing", eventId, tx -> invoices.insert(tx.connection(), order));
 * }</pre>
 *
 * <p>Where the transaction is the caller's own, {@code inbox.on(connection).once("billing", eventId, () -> bill(order))}
 * takes part in it. Thread-safe; what {@link #on} returns is for the thread that uses the connection.
 */
public final class JdbcInbox {
    private static final Logger log = LoggerFactory.getLogger(JdbcInbox.class);

    /** For how long it is remembered what was processed, unless said otherwise. */
    public static final Duration DEFAULT_KEEP = Duration.ofDays(14);

    private static final Duration SHORTEST_KEEP = Duration.ofDays(1);

    /** What one statement of {@link #prune} looks through: half a megabyte, some thousand rows. */
    private static final long PAGES_AT_ONCE = 64;

    private final DataSource dataSource;
    private final InboxSql sql;
    private final LongAdder duplicates;

    private JdbcInbox(DataSource dataSource, InboxSql sql, LongAdder duplicates) {
        this.dataSource = dataSource;
        this.sql = sql;
        this.duplicates = duplicates;
    }

    public static JdbcInbox of(DataSource dataSource) {
        return new JdbcInbox(
                Objects.requireNonNull(dataSource, "dataSource"),
                new InboxSql(TableNames.ofDefaults()),
                new LongAdder());
    }

    public JdbcInbox withTables(TableNames tables) {
        return new JdbcInbox(dataSource, new InboxSql(tables), duplicates);
    }

    /** Work on one transaction. */
    @FunctionalInterface
    public interface Work<E extends Exception> {
        void in(Tx tx) throws E;
    }

    /** A transaction that is committed when the work returns, and rolled back when it throws. */
    public interface Tx {
        Connection connection();
    }

    /**
     * Runs the work in a transaction of its own, unless this consumer has seen the event before.
     *
     * @return whether the work was run; false: seen before
     * @throws OutboxException if the transaction cannot be begun or committed, the name of the consumer breaks a rule, or the
     *     database refuses; what the work throws is passed on
     */
    public <E extends Exception> boolean transact(String consumer, UUID eventId, Work<E> work) throws E {
        return new OwnTransaction(dataSource, "Process the event again: if it was committed, it is seen before then.")
                .run(connection -> on(connection).once(consumer, eventId, () -> work.in(() -> connection)));
    }

    /** The inbox of the transaction that is open on this connection; commit and rollback stay with the caller. */
    public Inbox on(Connection connection) {
        return new OnConnection(connection);
    }

    /** How many events were found to be seen before, by this object and those that {@link #withTables} made of it. */
    public long duplicateCount() {
        return duplicates.sum();
    }

    /** {@link #prune(Duration)} of what is older than {@link #DEFAULT_KEEP}. */
    public long prune() {
        return prune(DEFAULT_KEEP);
    }

    /**
     * Forgets what was processed longer ago than this. What comes again after that is processed again, so keep it for longer
     * than an event may take to be delivered once more. Deletes in small transactions of its own; consumers go on meanwhile.
     *
     * @return how many were forgotten
     * @throws IllegalArgumentException if {@code keep} is shorter than a day
     */
    public long prune(Duration keep) {
        if (keep.compareTo(SHORTEST_KEEP) < 0) {
            throw new IllegalArgumentException("To remember for " + keep + " what was processed is too short: a day is"
                    + " the least, and it must be longer than an event may take to come again.");
        }
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(true);
            long pages = pages(connection);
            long forgotten = 0;
            for (long from = 0; from < pages; from += PAGES_AT_ONCE) {
                forgotten += prune(connection, from, keep);
            }
            if (forgotten > 0) {
                log.info("Pruned {} events from the inbox", forgotten);
            }
            return forgotten;
        } catch (SQLException e) {
            throw new OutboxException(
                    "The inbox could not be pruned: " + Discretion.firstLine(e) + ". Consumers go on; call it again.",
                    e);
        }
    }

    private long pages(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.pages);
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return rows.getLong(1);
        }
    }

    private int prune(Connection connection, long fromPage, Duration keep) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.prune)) {
            statement.setString(1, "(" + fromPage + ",0)");
            statement.setString(2, "(" + (fromPage + PAGES_AT_ONCE) + ",0)");
            statement.setLong(3, keep.toSeconds());
            return statement.executeUpdate();
        }
    }

    private final class OnConnection implements Inbox {
        private final Connection connection;

        OnConnection(Connection connection) {
            this.connection = connection;
        }

        @Override
        public <E extends Exception> boolean once(String consumer, UUID eventId, Inbox.Work<E> work) throws E {
            if (!insert(consumer, eventId)) {
                duplicates.increment();
                InboxLog.seenBefore(consumer, eventId);
                return false;
            }
            work.run();
            return true;
        }

        @Override
        public Set<UUID> claim(String consumer, Collection<UUID> eventIds) {
            Set<UUID> fresh = new LinkedHashSet<>(eventIds);
            if (fresh.isEmpty()) {
                return fresh;
            }
            Set<UUID> seen = new LinkedHashSet<>(fresh);
            fresh.retainAll(insert(consumer, seen));
            seen.removeAll(fresh);
            if (!seen.isEmpty()) {
                duplicates.add(seen.size());
                InboxLog.seenBefore(consumer, seen, seen.size() + fresh.size());
            }
            return fresh;
        }

        private boolean insert(String consumer, UUID eventId) {
            try {
                check(consumer, eventId);
                try (PreparedStatement statement = connection.prepareStatement(sql.once)) {
                    statement.setString(1, consumer);
                    statement.setObject(2, eventId);
                    return statement.executeUpdate() == 1;
                }
            } catch (SQLException e) {
                throw refused(consumer, "event " + eventId, e);
            }
        }

        private Set<UUID> insert(String consumer, Set<UUID> eventIds) {
            UUID first = eventIds.iterator().next();
            try {
                check(consumer, first);
                try (PreparedStatement statement = connection.prepareStatement(sql.claim)) {
                    statement.setString(1, consumer);
                    statement.setArray(2, connection.createArrayOf("uuid", eventIds.toArray()));
                    try (ResultSet rows = statement.executeQuery()) {
                        Set<UUID> noted = new HashSet<>();
                        while (rows.next()) {
                            noted.add(rows.getObject(1, UUID.class));
                        }
                        return noted;
                    }
                }
            } catch (SQLException e) {
                throw refused(consumer, "event " + first + " or one of the " + (eventIds.size() - 1) + " after it", e);
            }
        }

        private void check(String consumer, UUID eventId) throws SQLException {
            ConsumerRules.check(consumer);
            if (connection.getAutoCommit()) {
                throw new OutboxException(
                        "No transaction is open, so event " + eventId + " would count as processed by "
                                + consumer
                                + " even if its work fails. Call setAutoCommit(false) before your first statement, or"
                                + " use JdbcInbox.transact(..).");
            }
        }

        private static OutboxException refused(String consumer, String what, SQLException e) {
            return new OutboxException(
                    "The database did not note " + what + " as processed by " + consumer + ": "
                            + Discretion.firstLine(e) + ". Roll your transaction back, then process it again.",
                    e);
        }
    }
}
