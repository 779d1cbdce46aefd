// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.OutboxException;
import io.postrider.internal.Discretion;
import io.postrider.internal.OperatorSql;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.sql.DataSource;

/**
 * What is not delivered yet, and who delivers. Counting reads all of it: for a look every few seconds, not for every
 * request. Thread-safe.
 */
public final class Backlog {
    private static final int PATIENCE_SECONDS = 10;

    private final DataSource dataSource;
    private final OperatorSql sql;

    private Backlog(DataSource dataSource, TableNames tables) {
        this.dataSource = dataSource;
        this.sql = new OperatorSql(tables);
    }

    public static Backlog of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    public static Backlog of(DataSource dataSource, TableNames tables) {
        return new Backlog(dataSource, tables);
    }

    /**
     * What one stream has not delivered.
     *
     * @param pending events that will be delivered, now or later
     * @param dead events that wait for a person
     * @param oldest for how long the oldest pending event has been there; zero if there is none
     * @param paused whether a person stopped the stream
     */
    public record OfStream(String stream, long pending, long dead, Duration oldest, boolean paused) {}

    /**
     * One relay, as it last reported.
     *
     * @param alive whether its lease runs
     * @param paused whether it leaves its share to others
     * @param shards how many of the 256 shards it owns
     * @param closed streams whose destination does not answer it
     */
    public record OfRelay(
            String name,
            String group,
            boolean alive,
            boolean paused,
            int shards,
            int inFlight,
            long published,
            List<String> closed,
            Instant startedAt) {}

    /** All streams that are known or have events, by name. */
    public List<OfStream> streams() {
        return read(
                "count the undelivered events",
                sql.backlog,
                rows -> new OfStream(
                        rows.getString(1),
                        rows.getLong(2),
                        rows.getLong(3),
                        Duration.ofMillis(rows.getLong(4)),
                        rows.getBoolean(5)));
    }

    /** All relays that have a place, the oldest first. */
    public List<OfRelay> relays() {
        return read(
                "read the relays",
                sql.relays,
                rows -> new OfRelay(
                        rows.getString(1),
                        rows.getString(2),
                        rows.getBoolean(3),
                        rows.getBoolean(4),
                        rows.getInt(5),
                        rows.getInt(6),
                        rows.getLong(7),
                        Arrays.asList((String[]) rows.getArray(8).getArray()),
                        rows.getObject(9, OffsetDateTime.class).toInstant()));
    }

    private interface Row<T> {
        T of(ResultSet rows) throws SQLException;
    }

    private <T> List<T> read(String what, String text, Row<T> row) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement(text)) {
            statement.setQueryTimeout(PATIENCE_SECONDS);
            try (ResultSet rows = statement.executeQuery()) {
                List<T> all = new ArrayList<>();
                while (rows.next()) {
                    all.add(row.of(rows));
                }
                return all;
            }
        } catch (SQLException e) {
            throw new OutboxException("Could not " + what + ": " + Discretion.firstLine(e), e);
        }
    }
}
