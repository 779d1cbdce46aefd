// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.internal.LeaseSql;
import io.postrider.relay.Delivery;
import io.postrider.relay.Verdict;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongSupplier;

/** The statements of the loop that sends events at their commit, over its own connection. For one thread. */
final class LeaseStatements implements LeaseStore {
    /** What is left of a lease when a send may be started for the last time: time enough for it to be answered. */
    private static final Duration SEND_TIME = Duration.ofSeconds(2);

    private static final Duration EXTENSION = Duration.ofSeconds(5);

    private final Session session;
    private final LeaseSql sql;
    private final EventStatements events;
    private final Ownership ownership;
    private final LongSupplier ticker;

    /** @param events over the same session */
    LeaseStatements(Session session, LeaseSql sql, EventStatements events, Ownership ownership, LongSupplier ticker) {
        this.session = session;
        this.sql = sql;
        this.events = events;
        this.ownership = ownership;
        this.ticker = ticker;
    }

    @Override
    public Found read(Collection<UUID> ids, Collection<Long> inFlight) {
        // Before the statement: what it says is left of a lease is counted from then on, which is too early, never too
        // late.
        long before = ticker.getAsLong();
        return session.run("read leased events", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.read)) {
                statement.setArray(1, EventStatements.array(connection, "int8", inFlight));
                statement.setLong(2, SEND_TIME.toNanos() / 1000);
                statement.setLong(3, ownership.member());
                statement.setArray(4, EventStatements.array(connection, "uuid", ids));
                try (ResultSet rows = statement.executeQuery()) {
                    Found found = found(rows, before);
                    if (found.sendable().isEmpty() && found.barred().isEmpty()) {
                        checkThatItTakesWrites(connection);
                    }
                    return found;
                }
            }
        });
    }

    /** Where nothing is found of what was just committed, the connection may lead to a server that was demoted. */
    private void checkThatItTakesWrites(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.isReadOnly);
                ResultSet rows = statement.executeQuery()) {
            if (rows.next() && rows.getBoolean(1)) {
                throw Session.readOnly();
            }
        }
    }

    private static Found found(ResultSet rows, long before) throws SQLException {
        List<Delivery> sendable = new ArrayList<>();
        List<Delivery> barred = new ArrayList<>();
        Set<String> barredStreams = new HashSet<>();
        Set<String> newStreams = new HashSet<>();
        EventColumns columns = new EventColumns(rows);
        while (rows.next()) {
            long startBy = before + rows.getLong(6) * 1000 - SEND_TIME.toNanos();
            Delivery delivery = new Delivery(
                    rows.getLong(1),
                    rows.getInt(3),
                    rows.getInt(4),
                    columns.event(),
                    new LeaseClaim(startBy, rows.getBoolean(17)));
            boolean barredStream = rows.getBoolean(21);
            (rows.getBoolean(20) && !barredStream ? sendable : barred).add(Expiry.of(delivery, rows, 22, before));
            if (barredStream) {
                barredStreams.add(rows.getString(7));
            }
            if (rows.getBoolean(18)) {
                newStreams.add(rows.getString(7));
            }
        }
        return new Found(sendable, barred, barredStreams, newStreams);
    }

    @Override
    public void settle(List<Delivery> published) {
        events.settle(published);
    }

    @Override
    public Set<Long> unknown(List<Verdict> verdicts) {
        return session.run("write verdicts", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.unknown)) {
                statement.setArray(
                        1,
                        array(
                                connection,
                                "int8",
                                verdicts,
                                each -> each.delivery().id()));
                statement.setArray(
                        2,
                        array(
                                connection,
                                "uuid",
                                verdicts,
                                each -> each.delivery().event().id()));
                statement.setArray(
                        3,
                        array(
                                connection,
                                "int4",
                                verdicts,
                                each -> each.delivery().revision()));
                statement.setArray(
                        4,
                        array(
                                connection,
                                "text",
                                verdicts,
                                each -> each.outcome().code()));
                statement.setArray(
                        5,
                        array(
                                connection,
                                "text",
                                verdicts,
                                each -> each.outcome().message()));
                statement.setLong(6, ownership.member());
                statement.setString(7, events.relay());
                try (ResultSet rows = statement.executeQuery()) {
                    Set<Long> written = new HashSet<>();
                    while (rows.next()) {
                        written.add(rows.getLong(1));
                    }
                    return written;
                }
            }
        });
    }

    private static Array array(Connection connection, String type, List<Verdict> verdicts, Function<Verdict, ?> part)
            throws SQLException {
        return EventStatements.array(
                connection, type, verdicts.stream().map(part).toList());
    }

    @Override
    public void release(Collection<Long> ids) {
        session.run("release leased events", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.release)) {
                statement.setLong(1, ownership.member());
                statement.setArray(2, EventStatements.array(connection, "int8", ids));
                return statement.executeUpdate();
            }
        });
    }

    @Override
    public void releaseAllBut(Collection<Long> ids) {
        session.run("release leased events", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.releaseAllBut)) {
                statement.setLong(1, ownership.member());
                statement.setArray(2, EventStatements.array(connection, "int8", ids));
                return statement.executeUpdate();
            }
        });
    }

    @Override
    public Map<Long, Long> extend(Collection<Long> ids) {
        long again = ticker.getAsLong() + EXTENSION.minus(SEND_TIME).toNanos();
        return session.run("extend leases", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.extend)) {
                statement.setLong(1, EXTENSION.toNanos() / 1000);
                statement.setLong(2, ownership.member());
                statement.setArray(3, EventStatements.array(connection, "int8", ids));
                Map<Long, Long> extended = new HashMap<>();
                try (ResultSet rows = statement.executeQuery()) {
                    while (rows.next()) {
                        extended.put(rows.getLong(1), again);
                    }
                }
                return extended;
            }
        });
    }

    @Override
    public void register(Set<String> streams) {
        events.register(streams);
    }

    @Override
    public void close() {
        session.close();
    }
}
