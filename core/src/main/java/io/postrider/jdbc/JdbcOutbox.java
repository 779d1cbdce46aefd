// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.internal.Discretion;
import io.postrider.relay.Bell;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Function;
import javax.sql.DataSource;

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
 * polling. Where a relay of this process publishes on commit, {@code transact} and {@link #join} have it send the events
 * right after the COMMIT. Thread-safe; what {@link #on} returns is for the thread that uses the connection.
 */
public final class JdbcOutbox {
    /** What fits a broker's usual limit of 1 MiB with room for headers. */
    public static final int DEFAULT_MAX_PAYLOAD = 900 * 1024;

    /** For how long an event that is to be sent at its commit is left to the process that wrote it. */
    private static final Duration DEFAULT_LEASE = Duration.ofSeconds(5);

    private static final Duration SHORTEST_LEASE = Duration.ofSeconds(3);
    private static final Duration LONGEST_LEASE = Duration.ofMinutes(10);

    private static final String DENIED = "42501";
    private static final String NEEDED_ROLES = " A user that appends needs the role postrider_writer, or"
            + " postrider_committer where a relay of the same process publishes on commit.";

    private final DataSource dataSource;
    private final Bell bell;
    private final Appending appending;

    private JdbcOutbox(DataSource dataSource, Bell bell, Appending appending) {
        this.dataSource = dataSource;
        this.bell = bell;
        this.appending = appending;
    }

    public static JdbcOutbox of(DataSource dataSource) {
        return new JdbcOutbox(
                Objects.requireNonNull(dataSource, "dataSource"),
                new Bell(),
                new Appending(TableNames.ofDefaults(), DEFAULT_MAX_PAYLOAD, DEFAULT_LEASE));
    }

    /** With a bell of its own: whoever relays one set of tables knows nothing of another. */
    public JdbcOutbox withTables(TableNames tables) {
        return new JdbcOutbox(dataSource, new Bell(), appending.withTables(tables));
    }

    /** Raises or lowers the payload limit; the destination must take as much. */
    public JdbcOutbox withMaxPayload(int bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("A payload limit of " + bytes + " bytes lets nothing through.");
        }
        return new JdbcOutbox(dataSource, bell, appending.withMaxPayload(bytes));
    }

    /**
     * For how long an event that a relay of this process shall send at its commit is left to it, counted from its INSERT; 5 s
     * by default. If the process dies, other relays go on when it has run out.
     */
    public JdbcOutbox withLease(Duration lease) {
        if (lease.compareTo(SHORTEST_LEASE) < 0 || lease.compareTo(LONGEST_LEASE) > 0) {
            throw new IllegalArgumentException("A lease of " + lease + " is not between 3 s and 10 min.");
        }
        return new JdbcOutbox(dataSource, bell, appending.withLease(lease));
    }

    DataSource dataSource() {
        return dataSource;
    }

    TableNames tables() {
        return appending.tables();
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

    /** A transaction of the caller's; he says when it is committed. For the thread that uses the connection. */
    public interface Joined extends Outbox {
        /**
         * Says that the transaction was committed, so that its events are sent, or looked for, at once. Never throws. Without
         * it they wait until their lease runs out, or for a poll.
         */
        void committed();
    }

    /**
     * Runs the work in a transaction of its own; after the commit the relays of this process send its events, or look for
     * them, at once.
     *
     * @throws OutboxException if the transaction cannot be begun or committed; what the work throws is passed on
     */
    public <E extends Exception> void transact(Work<E> work) throws E {
        OnConnection tx = new OwnTransaction(dataSource, "Look at your data before you repeat it.").run(connection -> {
            OnConnection own = new OnConnection(connection, bell::lessee);
            work.in(own);
            return own;
        });
        tx.committed();
    }

    /**
     * The outbox of the transaction that is open on this connection; commit and rollback stay with the caller. Its events
     * are not sent at their commit, but found by the relays; see {@link #join}.
     */
    public Outbox on(Connection connection) {
        return new OnConnection(connection, event -> OptionalLong.empty());
    }

    /**
     * As {@link #on}, for callers that say when they have committed: then the relay of this process sends the events at once
     * if it {@linkplain io.postrider.relay.RelaySettings.Builder#publishesOnCommit publishes on commit}.
     */
    public Joined join(Connection connection) {
        return new OnConnection(connection, bell::lessee);
    }

    /** Says that a transaction with events was committed, so that relays of this process look at once. Never throws. */
    public void committed() {
        bell.ring();
    }

    private final class OnConnection implements Tx, Joined {
        private final Connection connection;
        private final Function<OutboxEvent, OptionalLong> lessees;
        private final List<Bell.Handed> appended = new ArrayList<>();
        private boolean leased;

        OnConnection(Connection connection, Function<OutboxEvent, OptionalLong> lessees) {
            this.connection = connection;
            this.lessees = lessees;
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
                appending.check(events);
                Appending.Inserted inserted = appending.insert(connection, events, lessees);
                leased |= inserted.leased();
                inserted.events().forEach(event -> appended.add(new Bell.Handed(event.id(), event.payloadSize())));
            } catch (SQLException e) {
                throw new OutboxException(
                        "The database refused event " + first.type() + " (stream " + first.stream() + ")"
                                + (events.size() == 1 ? "" : " or one of the " + (events.size() - 1) + " after it")
                                + ": " + Discretion.firstLine(e) + ". Roll your transaction back."
                                + (DENIED.equals(e.getSQLState()) ? NEEDED_ROLES : ""),
                        e);
            }
        }

        @Override
        public void committed() {
            if (leased) {
                bell.handOver(List.copyOf(appended));
            } else {
                bell.ring();
            }
        }
    }
}
