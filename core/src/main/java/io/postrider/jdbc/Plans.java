// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Has the plans of a session's statements made anew when one of them was dear. They are kept for as long as the session is, or
 * until the tables are analyzed: what was made while the table was all but empty finds a row by reading all of it, and goes on
 * doing so when there are a million. For one thread.
 */
final class Plans {
    private static final long DEAR = Duration.ofMillis(50).toNanos();
    /** What is dear for another reason remains so, and would be planned again at each statement. */
    private static final long APART = Duration.ofSeconds(10).toNanos();

    private final LongSupplier ticker;
    private boolean old;
    private boolean madeAnew;
    private long madeAnewAt;
    private long beganAt;

    Plans(LongSupplier ticker) {
        this.ticker = ticker;
    }

    void before(Connection connection) throws SQLException {
        if (old) {
            forget(connection);
            old = false;
            madeAnew = true;
            madeAnewAt = ticker.getAsLong();
        }
        beganAt = ticker.getAsLong();
    }

    void after() {
        long now = ticker.getAsLong();
        old = isDear(now - beganAt) && (!madeAnew || now - madeAnewAt >= APART);
    }

    /** A pool may give the same one again, so what is to be forgotten still is. */
    void ofAnotherSession() {
        madeAnew = false;
    }

    static boolean isDear(long nanos) {
        return nanos >= DEAR;
    }

    /** Of this connection alone; whoever has it next pays for planning what it executes, once. */
    static void forget(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("DISCARD PLANS");
        }
    }
}
