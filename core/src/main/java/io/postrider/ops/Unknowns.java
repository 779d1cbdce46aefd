// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.OutboxException;
import io.postrider.internal.Discretion;
import io.postrider.internal.Rows;
import io.postrider.internal.UnknownSql;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Events that may or may not have had their effect, and what to do once that has been found out; by the application or by a
 * person.
 *
 * <pre>{@code
 * for (UnknownEvent charge : unknowns.find("payments", Duration.ofMinutes(5), 0, 100)) {
 *     if (bank.knows(charge.eventId())) {
 *         unknowns.done(List.of(charge), new Actor("reconciliation", "the bank has it"));
 *     }
 * }
 * }</pre>
 *
 * <p>An action applies to those that are still as they were found, and says to how many; it is audited in the same
 * transaction. Thread-safe, but for what {@link #on} returns.
 */
public final class Unknowns {
    private static final String NO_PARTITION = "23514";

    private final Session session;
    private final UnknownSql sql;

    private Unknowns(Session session, UnknownSql sql) {
        this.session = session;
        this.sql = sql;
    }

    public static Unknowns of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    public static Unknowns of(DataSource dataSource, TableNames tables) {
        Objects.requireNonNull(dataSource, "dataSource");
        return new Unknowns(Session.of(dataSource), new UnknownSql(tables));
    }

    /** The same in the transaction that is open on this connection; commit and rollback stay with the caller. */
    public Unknowns on(Connection connection) {
        return new Unknowns(Session.of(connection), sql);
    }

    /**
     * A page of them, oldest first.
     *
     * @param stream of this stream; {@code null}: of all
     * @param olderThan tried last at least so long ago
     * @param afterId the row id of the last one of the page before, or 0
     * @param limit 1 to 1,000
     */
    public List<UnknownEvent> find(@Nullable String stream, Duration olderThan, long afterId, int limit) {
        if (limit < 1 || limit > 1000) {
            throw new IllegalArgumentException("A page has 1 to 1000 unknown events, not " + limit + ".");
        }
        return find(stream, null, olderThan, afterId, limit);
    }

    /** The one with this event id; empty if its outcome is not unknown. */
    public Optional<UnknownEvent> find(UUID eventId) {
        return find(null, Objects.requireNonNull(eventId, "eventId"), Duration.ZERO, 0, 1).stream()
                .findFirst();
    }

    private List<UnknownEvent> find(
            @Nullable String stream, @Nullable UUID eventId, Duration olderThan, long afterId, int limit) {
        return session.run("find unknown events", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.find)) {
                statement.setLong(1, afterId);
                statement.setString(2, stream);
                statement.setString(3, stream);
                statement.setObject(4, eventId);
                statement.setObject(5, eventId);
                statement.setLong(6, olderThan.toNanos() / 1000);
                statement.setInt(7, limit);
                try (ResultSet rows = statement.executeQuery()) {
                    List<UnknownEvent> found = new ArrayList<>();
                    while (rows.next()) {
                        found.add(unknownEvent(rows));
                    }
                    return found;
                }
            }
        });
    }

    /** They had their effect: removed, into the history as published; returns how many. */
    public int done(Collection<UnknownEvent> events, Actor actor) {
        try {
            return act("settle", sql.done, events, actor.who(), actor.who(), actor.why());
        } catch (OutboxException e) {
            // In the caller's transaction nothing more can be done after an error.
            if (session.isOwn()
                    && e.getCause() instanceof SQLException cause
                    && NO_PARTITION.equals(cause.getSQLState())) {
                return act("settle", sql.doneToOverflow, events, actor.who(), actor.who(), actor.why());
            }
            throw e;
        }
    }

    /** They had none: tried again, with all their attempts, before any later event of their key; returns how many. */
    public int retry(Collection<UnknownEvent> events, Actor actor) {
        return act("retry", sql.retry, events, actor.who(), actor.why());
    }

    /** They cannot have any: dead letters from now on, with this code and message; returns how many. */
    public int dead(Collection<UnknownEvent> events, String code, String message, Actor actor) {
        Objects.requireNonNull(code, "code");
        Objects.requireNonNull(message, "message");
        return act("bury", sql.dead, events, code, message, actor.who(), actor.who(), actor.why());
    }

    /** {@link #done} for one; returns whether its outcome was unknown. */
    public boolean done(UUID eventId, Actor actor) {
        return find(eventId).filter(event -> done(List.of(event), actor) == 1).isPresent();
    }

    /** {@link #retry} for one; returns whether its outcome was unknown. */
    public boolean retry(UUID eventId, Actor actor) {
        return find(eventId).filter(event -> retry(List.of(event), actor) == 1).isPresent();
    }

    /** {@link #dead} for one; returns whether its outcome was unknown. */
    public boolean dead(UUID eventId, String code, String message, Actor actor) {
        return find(eventId)
                .filter(event -> dead(List.of(event), code, message, actor) == 1)
                .isPresent();
    }

    private int act(String action, String text, Collection<UnknownEvent> events, String... words) {
        return session.run(action + " unknown events", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(text)) {
                statement.setArray(1, connection.createArrayOf("int8", column(events, UnknownEvent::id)));
                statement.setArray(2, connection.createArrayOf("uuid", column(events, UnknownEvent::eventId)));
                statement.setArray(3, connection.createArrayOf("int4", column(events, UnknownEvent::revision)));
                for (int i = 0; i < words.length; i++) {
                    statement.setString(4 + i, words[i]);
                }
                return statement.executeUpdate();
            }
        });
    }

    private static Object[] column(Collection<UnknownEvent> events, Function<UnknownEvent, ?> part) {
        return events.stream().map(part).toArray();
    }

    private static UnknownEvent unknownEvent(ResultSet rows) throws SQLException {
        return new UnknownEvent(
                rows.getLong(1),
                rows.getObject(2, UUID.class),
                rows.getInt(3),
                rows.getString(4),
                Rows.maybeText(rows, 5),
                rows.getString(6),
                Rows.maybeText(rows, 7),
                Rows.maybeText(rows, 8),
                rows.getBoolean(9),
                rows.getInt(10),
                String.valueOf(rows.getString(11)),
                String.valueOf(rows.getString(12)),
                Rows.time(rows, 13),
                Rows.time(rows, 14));
    }

    private interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    /** Connections of its own, each statement a transaction; or the one of the caller. */
    private record Session(
            @Nullable DataSource dataSource, @Nullable Connection callers) {
        static Session of(DataSource dataSource) {
            return new Session(dataSource, null);
        }

        static Session of(Connection connection) {
            return new Session(null, Objects.requireNonNull(connection, "connection"));
        }

        boolean isOwn() {
            return dataSource != null;
        }

        <T> T run(String what, Work<T> work) {
            try {
                if (callers != null) {
                    return inTransaction(what, callers, work);
                }
                try (Connection connection =
                        Objects.requireNonNull(dataSource, "dataSource").getConnection()) {
                    connection.setAutoCommit(true);
                    return work.on(connection);
                }
            } catch (SQLException e) {
                throw new OutboxException(
                        "Could not " + what + ": " + Discretion.firstLine(e)
                                + (callers == null ? ". Nothing was changed." : ". Roll your transaction back."),
                        e);
            }
        }

        private static <T> T inTransaction(String what, Connection connection, Work<T> work) throws SQLException {
            if (connection.getAutoCommit()) {
                throw new OutboxException("No transaction is open, so to " + what
                        + " would not be atomic with your data. Call setAutoCommit(false) before your first statement,"
                        + " or use Unknowns without on(..).");
            }
            return work.on(connection);
        }
    }
}
