// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * Looks at what the relays of a rig hold in the database for as long as a test runs: no transaction may be open while nothing
 * is asked in it, and no relay may have ever more sessions. Thread-safe.
 */
final class SessionWatch implements AutoCloseable {
    private static final Duration EVERY = Duration.ofMillis(50);
    private static final Duration LONGEST_IDLE = Duration.ofMillis(100);
    /** One for the place, one for each loop, those that publish, listen and keep house, and those of one who was just killed. */
    private static final long MOST_SESSIONS = 10;

    /** A relay's sessions carry its name. */
    private static final String LOOK = """
            SELECT application_name, count(*),
                   coalesce(max(extract(epoch FROM clock_timestamp() - state_change) * 1000)
                       FILTER (WHERE state LIKE 'idle in transaction%'), 0)::bigint
            FROM pg_stat_activity WHERE datname = current_database() AND usename = ?
            GROUP BY application_name""";

    private final DataSource source;
    private final String user;
    private final Thread thread = new Thread(this::run, "session-watch");
    private volatile boolean closed;
    private volatile boolean looked;
    private volatile String idle = "";
    private volatile String crowd = "";

    /** @param user as whom the relays log in */
    SessionWatch(DataSource source, String user) {
        this.source = source;
        this.user = user;
        thread.setDaemon(true);
        thread.start();
    }

    /** @throws AssertionError if a relay held more than it may */
    void assertModest() {
        if (!looked) {
            throw new AssertionError("Nobody could look at the sessions of " + user);
        }
        if (!idle.isEmpty() || !crowd.isEmpty()) {
            throw new AssertionError(String.join("; ", idle, crowd));
        }
    }

    private void run() {
        while (!closed) {
            try (Connection connection = source.getConnection();
                    PreparedStatement look = connection.prepareStatement(LOOK)) {
                look.setString(1, user);
                while (!closed) {
                    look(look);
                    Thread.sleep(EVERY.toMillis());
                }
            } catch (SQLException e) {
                // The database is away, as it is in some tests.
                Rig.pause(EVERY);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void look(PreparedStatement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery()) {
            looked = true;
            while (rows.next()) {
                String relay = rows.getString(1);
                if (rows.getLong(2) > MOST_SESSIONS) {
                    crowd = relay + " has " + rows.getLong(2) + " sessions, more than " + MOST_SESSIONS;
                }
                if (rows.getLong(3) > LONGEST_IDLE.toMillis()) {
                    idle = relay + " left a transaction open for " + rows.getLong(3) + " ms";
                }
            }
        }
    }

    @Override
    public void close() {
        closed = true;
    }
}
