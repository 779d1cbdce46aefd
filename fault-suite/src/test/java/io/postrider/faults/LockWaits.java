// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Who waits for a lock on one of the product's tables, as seen by looking again and again. For one thread. */
final class LockWaits {
    private static final String WAITING = """
            SELECT relation::regclass::text, mode, waitstart::text,
                   (extract(epoch FROM clock_timestamp() - waitstart) * 1000000)::bigint
            FROM pg_locks WHERE NOT granted AND locktype = 'relation' AND waitstart IS NOT NULL
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database())""";

    private final Connection connection;
    private final Set<String> migrations = new HashSet<>();
    private final Set<String> ofWriters = new TreeSet<>();
    private Duration longest = Duration.ZERO;

    LockWaits(Connection connection) {
        this.connection = connection;
    }

    LockWaits look() {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(WAITING)) {
            while (rows.next()) {
                String mode = rows.getString(2);
                if (mode.equals("AccessExclusiveLock")) {
                    migrations.add(rows.getString(3));
                } else {
                    Duration waited = Duration.ofNanos(rows.getLong(4) * 1000);
                    longest = longest.compareTo(waited) < 0 ? waited : longest;
                    if (rows.getString(1).equals("outbox_event")) {
                        ofWriters.add(mode + " since " + rows.getString(3));
                    }
                }
            }
            return this;
        } catch (SQLException e) {
            throw new IllegalStateException("The locks could not be read", e);
        }
    }

    /** How often a migration was seen to wait. */
    int migrations() {
        return migrations.size();
    }

    /** Those that wait for the table of events. */
    List<String> ofWriters() {
        return List.copyOf(ofWriters);
    }

    /** The longest that anybody but a migration was seen to wait. */
    Duration longest() {
        return longest;
    }
}
