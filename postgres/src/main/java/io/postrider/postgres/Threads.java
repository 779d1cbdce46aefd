// SPDX-License-Identifier: Apache-2.0
package io.postrider.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What the two directions of a signal share. */
final class Threads {
    static final String READ_ONLY = "pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean";

    private static final Duration LONGEST_END = Duration.ofSeconds(6);

    private Threads() {}

    static void awaitEnd(Thread thread) {
        try {
            thread.join(LONGEST_END.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whoever commits does so elsewhere; the connection is ended, since a pool would hand it out again. */
    static void requireWritable(@Nullable Connection connection, ResultSet rows, int column) throws SQLException {
        if (rows.next() && rows.getBoolean(column) && connection != null) {
            connection.abort(Runnable::run);
            throw new SQLException("The server takes no writes: it is a standby, or was demoted");
        }
    }

    static void close(@Nullable Connection connection) {
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException e) {
                // It is given up either way.
            }
        }
    }
}
