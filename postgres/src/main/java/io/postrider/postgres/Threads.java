// SPDX-License-Identifier: Apache-2.0
package io.postrider.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How the two directions of a signal end. */
final class Threads {
    private static final Duration LONGEST_END = Duration.ofSeconds(6);

    private Threads() {}

    static void awaitEnd(Thread thread) {
        try {
            thread.join(LONGEST_END.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
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
