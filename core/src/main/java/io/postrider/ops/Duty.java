// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.OutboxException;
import io.postrider.internal.Discretion;
import io.postrider.internal.DutySql;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * What one process at a time does for all, when it is due. Who takes it has it for the lease; if he dies, another takes it when
 * that has run out. What is done must tolerate being done twice, since one who is slower than his lease does not know.
 */
final class Duty {
    private static final Duration LEASE = Duration.ofMinutes(10);

    private final DataSource dataSource;
    private final DutySql sql;
    private final String name;
    private final String holder;

    Duty(DataSource dataSource, TableNames tables, String name, String holder) {
        this.dataSource = dataSource;
        this.sql = new DutySql(tables);
        this.name = name;
        this.holder = holder;
    }

    /** The right to do it, and when it was taken, on the database's clock. */
    record Turn(long revision, Instant at) {}

    /** Takes it if it is due and nobody else has it. */
    Optional<Turn> take() {
        return run(sql.take, statement -> {
            statement.setString(1, name);
            statement.setString(2, holder);
            statement.setLong(3, LEASE.toSeconds());
            try (ResultSet row = statement.executeQuery()) {
                return row.next()
                        ? Optional.of(new Turn(
                                row.getLong(1),
                                row.getObject(2, OffsetDateTime.class).toInstant()))
                        : Optional.empty();
            }
        });
    }

    /** Gives it back until then; does nothing if another has taken it meanwhile. */
    void done(Turn turn, Instant next) {
        run(sql.done, statement -> {
            statement.setObject(1, OffsetDateTime.ofInstant(next, ZoneOffset.UTC));
            statement.setString(2, name);
            statement.setLong(3, turn.revision());
            return statement.executeUpdate();
        });
    }

    private interface Work<T> {
        T on(PreparedStatement statement) throws SQLException;
    }

    private <T> T run(String text, Work<T> work) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(true);
            try (PreparedStatement statement = connection.prepareStatement(text)) {
                return work.on(statement);
            }
        } catch (SQLException e) {
            throw new OutboxException(
                    "Could not take or give back the duty " + name + ": " + Discretion.firstLine(e)
                            + ". Whoever keeps the household needs the role postrider_relay.",
                    e);
        }
    }
}
