// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.OutboxException;
import io.postrider.internal.AlertSql;
import io.postrider.internal.Discretion;
import io.postrider.internal.Rows;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * What one channel has told, in the table of alerts. Every statement is its own transaction, so none is open while the channel
 * is talked to. Thread-safe.
 */
final class AlertStore {
    private final DataSource dataSource;
    private final AlertSql sql;
    private final Rows rows;
    private final String channel;

    AlertStore(DataSource dataSource, TableNames tables, String channel) {
        this.dataSource = dataSource;
        this.sql = new AlertSql(tables);
        this.rows = new Rows(dataSource);
        this.channel = channel;
    }

    /** Of what is told: a condition, and a stream or a relay. */
    record Topic(String condition, String subject) {}

    /**
     * What is known of a topic.
     *
     * @param raised people were told that it is so, or may have been
     * @param free nobody is telling, and the channel is not to be left alone
     * @param toldAgo since the last message; none if there was none since it began
     * @param toldOf when it was so, according to the last message
     */
    record Known(
            long revision,
            boolean raised,
            int failures,
            boolean free,
            Optional<Duration> toldAgo,
            Optional<Instant> toldOf,
            long toldValue) {}

    /** The right to tell of a subject, as long as nobody has changed the row since. */
    record Claim(String subject, long revision, long value) {}

    Map<Topic, Known> known() {
        Map<Topic, Known> known = new HashMap<>();
        rows.read("alerts", sql.known, AlertStore::entry, channel)
                .forEach(each -> known.put(each.getKey(), each.getValue()));
        return known;
    }

    private static Map.Entry<Topic, Known> entry(ResultSet row) throws SQLException {
        return Map.entry(
                new Topic(row.getString(1), row.getString(2)),
                new Known(
                        row.getLong(3),
                        row.getBoolean(4),
                        row.getInt(5),
                        row.getBoolean(6),
                        Rows.maybeSeconds(row, 7),
                        Rows.maybeTime(row, 8),
                        row.getLong(9)));
    }

    /** Claims subjects of which nothing is known; returns those that nobody else has. */
    Map<String, Long> claimNew(AlertKind kind, Collection<String> subjects, Duration claim) {
        return claim(connection -> {
            PreparedStatement statement = connection.prepareStatement(sql.claimNew);
            statement.setString(1, channel);
            statement.setString(2, kind.code());
            statement.setLong(3, claim.toMillis());
            statement.setArray(4, connection.createArrayOf("text", subjects.toArray()));
            return statement;
        });
    }

    /** Claims subjects as they are known, by their revisions; returns those that are still so and free. */
    Map<String, Long> claim(AlertKind kind, Map<String, Long> revisions, Duration claim) {
        return claim(connection -> {
            PreparedStatement statement = connection.prepareStatement(sql.claim);
            List<String> subjects = List.copyOf(revisions.keySet());
            statement.setArray(1, connection.createArrayOf("text", subjects.toArray()));
            statement.setArray(
                    2,
                    connection.createArrayOf(
                            "int8", subjects.stream().map(revisions::get).toArray()));
            statement.setString(3, channel);
            statement.setString(4, kind.code());
            statement.setLong(5, claim.toMillis());
            return statement;
        });
    }

    /** Records that people know; what somebody else has claimed meanwhile is left to him. */
    void told(AlertKind kind, Collection<Claim> claims, boolean raised, Instant of) {
        change(sql.told, kind, claims, raised, of);
    }

    /** Records that they may not, and leaves the channel alone for a while, for longer each time. */
    void failed(AlertKind kind, Collection<Claim> claims) {
        change(sql.failed, kind, claims, true, null);
    }

    void forget() {
        run(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.forget)) {
                statement.setString(1, channel);
                return statement.executeUpdate();
            }
        });
    }

    private void change(String text, AlertKind kind, Collection<Claim> claims, boolean raised, @Nullable Instant of) {
        if (claims.isEmpty()) {
            return;
        }
        run(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(text)) {
                statement.setArray(1, connection.createArrayOf("text", column(claims, Claim::subject)));
                statement.setArray(2, connection.createArrayOf("int8", column(claims, Claim::revision)));
                statement.setArray(3, connection.createArrayOf("int8", column(claims, Claim::value)));
                statement.setBoolean(4, raised);
                statement.setObject(5, of == null ? null : OffsetDateTime.ofInstant(of, ZoneOffset.UTC));
                statement.setString(6, channel);
                statement.setString(7, kind.code());
                return statement.executeUpdate();
            }
        });
    }

    private static Object[] column(Collection<Claim> claims, Function<Claim, ?> part) {
        return claims.stream().map(part).toArray();
    }

    private Map<String, Long> claim(Work<PreparedStatement> prepared) {
        return run(connection -> {
            try (PreparedStatement statement = prepared.on(connection);
                    ResultSet row = statement.executeQuery()) {
                Map<String, Long> claimed = new HashMap<>();
                while (row.next()) {
                    claimed.put(row.getString(1), row.getLong(2));
                }
                return claimed;
            }
        });
    }

    private interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    private <T> T run(Work<T> work) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(true);
            return work.on(connection);
        } catch (SQLException e) {
            throw new OutboxException(
                    "Could not write to the table of alerts: " + Discretion.firstLine(e)
                            + ". Whoever runs alerts needs the role postrider_relay.",
                    e);
        }
    }
}
