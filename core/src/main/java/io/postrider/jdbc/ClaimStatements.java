// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.internal.CompetingSql;
import io.postrider.relay.Delivery;
import io.postrider.relay.Verdict;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The statements of one loop of a competing feed, over its own connection. Each is a transaction of its own; one that throws
 * may have had its effect. For one thread.
 */
final class ClaimStatements implements AutoCloseable {
    private final Session session;
    private final CompetingSql sql;
    private final Settling settling;
    private final String relay;
    private final LongSupplier ticker;

    ClaimStatements(Session session, CompetingSql sql, Settling settling, String relay, LongSupplier ticker) {
        this.session = session;
        this.sql = sql;
        this.settling = settling;
        this.relay = relay;
        this.ticker = ticker;
    }

    /**
     * What to claim.
     *
     * @param me as whom
     * @param rooms how many of each stream at most
     * @param rows how many in all at most
     * @param bytes stop when their payloads add up to more than this
     * @param not ids of rows that are under way although their lease may have run out
     * @param suspects which suspects
     * @param spans where to look for what is pending
     */
    record Query(
            long me,
            String group,
            Map<String, Integer> rooms,
            int rows,
            long bytes,
            Duration lease,
            Collection<Long> not,
            LeftBehind suspects,
            Spans spans) {

        /** How many rows it can bring. */
        int most() {
            return (int) Math.min(
                    rows, rooms.values().stream().mapToLong(Integer::longValue).sum());
        }
    }

    /** A row that was leased, and how many leases of it have run out. */
    record Leased(Delivery delivery, int shard, int runOut) {}

    /** @param nextDue in how long something else of these streams is due */
    record Found(List<Leased> leased, Optional<Duration> nextDue) {}

    Found claim(Query query) {
        long before = ticker.getAsLong();
        return session.run("claim events", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.claim)) {
                List<String> streams = List.copyOf(query.rooms().keySet());
                statement.setLong(1, query.me());
                statement.setArray(2, EventStatements.array(connection, "text", streams));
                statement.setArray(
                        3, EventStatements.array(connection, "int4", EventStatements.of(streams, query.rooms()::get)));
                statement.setString(4, query.group());
                statement.setArray(5, EventStatements.array(connection, "int8", query.not()));
                statement.setInt(6, query.suspects().ends());
                statement.setInt(7, LeftBehind.TOO_OFTEN);
                statement.setInt(8, query.rows());
                statement.setInt(9, LeftBehind.TOO_OFTEN);
                statement.setInt(10, query.suspects().most());
                Spans spans = query.spans();
                statement.setArray(11, EventStatements.array(connection, "int2", spans.first()));
                statement.setArray(12, EventStatements.array(connection, "int2", spans.last()));
                statement.setInt(13, spans.depth());
                statement.setInt(14, query.rows());
                statement.setLong(15, query.lease().toNanos() / 1000);
                statement.setLong(16, query.bytes());
                statement.setInt(17, query.most());
                try (ResultSet rows = statement.executeQuery()) {
                    return found(rows, before, query.lease());
                }
            }
        });
    }

    private static Found found(ResultSet rows, long before, Duration lease) throws SQLException {
        List<Leased> leased = new ArrayList<>();
        Optional<Duration> nextDue = Optional.empty();
        EventColumns columns = new EventColumns(rows);
        while (rows.next()) {
            long id = rows.getLong(1);
            if (rows.wasNull()) {
                long micros = rows.getLong(20);
                nextDue = rows.wasNull() ? Optional.empty() : Optional.of(Duration.ofNanos(micros * 1000));
                if (rows.getBoolean(21)) {
                    throw Session.readOnly();
                }
            } else {
                CompetingClaim claim = new CompetingClaim(before, lease, rows.getBoolean(17));
                Delivery delivery = new Delivery(id, rows.getInt(3), rows.getInt(4), columns.event(), claim);
                leased.add(new Leased(Expiry.of(delivery, rows, 22, before), rows.getInt(5), rows.getInt(6)));
            }
        }
        leased.sort(Comparator.comparingLong(each -> each.delivery().id()));
        return new Found(leased, nextDue);
    }

    void settle(List<Delivery> published) {
        settling.settle(published);
    }

    /** Writes verdicts on rows that are leased as they were sent; returns the ids of those. */
    Set<Long> verdict(long me, List<Verdict> verdicts) {
        List<Delivery> deliveries = EventStatements.of(verdicts, Verdict::delivery);
        return session.run("write verdicts", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.verdict)) {
                bindRows(statement, connection, deliveries);
                statement.setArray(
                        4,
                        EventStatements.array(
                                connection,
                                "text",
                                EventStatements.of(verdicts, v -> EventStatements.status(v.outcome()))));
                statement.setArray(
                        5,
                        EventStatements.array(
                                connection,
                                "int8",
                                EventStatements.of(verdicts, v -> EventStatements.delayMicros(v.outcome()))));
                statement.setArray(
                        6,
                        EventStatements.array(
                                connection,
                                "text",
                                EventStatements.of(verdicts, v -> v.outcome().code())));
                statement.setArray(
                        7,
                        EventStatements.array(
                                connection,
                                "text",
                                EventStatements.of(verdicts, v -> v.outcome().message())));
                statement.setArray(
                        8, EventStatements.array(connection, "bool", EventStatements.of(verdicts, Expiry::isExpired)));
                statement.setLong(9, me);
                statement.setString(10, relay);
                return ids(statement);
            }
        });
    }

    private static void bindRows(PreparedStatement statement, Connection connection, List<Delivery> deliveries)
            throws SQLException {
        statement.setArray(1, EventStatements.array(connection, "int8", EventStatements.of(deliveries, Delivery::id)));
        statement.setArray(
                2,
                EventStatements.array(
                        connection,
                        "uuid",
                        EventStatements.of(deliveries, d -> d.event().id())));
        statement.setArray(
                3, EventStatements.array(connection, "int4", EventStatements.of(deliveries, Delivery::revision)));
    }

    /** Makes those pending again that are leased as they were taken. */
    void release(long me, Collection<Delivery> deliveries) {
        session.run("release events", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.release)) {
                List<Delivery> listed = List.copyOf(deliveries);
                statement.setArray(
                        1, EventStatements.array(connection, "int8", EventStatements.of(listed, Delivery::id)));
                statement.setArray(
                        2, EventStatements.array(connection, "int4", EventStatements.of(listed, Delivery::revision)));
                statement.setLong(3, me);
                return statement.executeUpdate();
            }
        });
    }

    static Set<Long> ids(PreparedStatement statement) throws SQLException {
        Set<Long> ids = new HashSet<>();
        try (ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                ids.add(rows.getLong(1));
            }
        }
        return ids;
    }

    @Override
    public void close() {
        session.close();
    }
}
