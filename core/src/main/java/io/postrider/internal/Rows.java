// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.OutboxException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Reads the rows of one statement as objects; thread-safe. */
public final class Rows {
    private final DataSource dataSource;

    public Rows(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** Makes an object of the row on which the result set stands. */
    public interface Mapper<T> {
        T of(ResultSet row) throws SQLException;
    }

    /**
     * Runs the statement in a transaction of its own.
     *
     * @param what is being read, for the message of a failure
     */
    public <T> List<T> read(String what, String text, Mapper<T> mapper, @Nullable Object... values) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(true);
            try (PreparedStatement statement = connection.prepareStatement(text)) {
                for (int i = 0; i < values.length; i++) {
                    statement.setObject(i + 1, values[i]);
                }
                try (ResultSet rows = statement.executeQuery()) {
                    List<T> read = new ArrayList<>();
                    while (rows.next()) {
                        read.add(mapper.of(rows));
                    }
                    return read;
                }
            }
        } catch (SQLException e) {
            throw new OutboxException("Could not read " + what + ": " + Discretion.firstLine(e), e);
        }
    }

    public static Instant time(ResultSet row, int column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
    }

    public static Optional<Instant> maybeTime(ResultSet row, int column) throws SQLException {
        return Optional.ofNullable(row.getObject(column, OffsetDateTime.class)).map(OffsetDateTime::toInstant);
    }

    public static Optional<String> maybeText(ResultSet row, int column) throws SQLException {
        return Optional.ofNullable(row.getString(column));
    }

    /** A column that holds seconds; none below zero, which two clocks can make. */
    public static Optional<Duration> maybeSeconds(ResultSet row, int column) throws SQLException {
        double seconds = row.getDouble(column);
        return row.wasNull() ? Optional.empty() : Optional.of(Duration.ofMillis((long) Math.max(0, seconds * 1000)));
    }
}
