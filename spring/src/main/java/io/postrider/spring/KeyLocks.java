// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/**
 * Lets transactions that append to the same key wait for each other until the commit, so that events of a key get their
 * ids in the order of the commits.
 */
final class KeyLocks {
    private static final int MOST_KEYS = 1000;

    /**
     * In the order of the locks, not of the keys: two keys may share a lock, and everybody must take locks in one
     * order.
     */
    private static final String TAKE = """
            WITH locks AS MATERIALIZED (
                SELECT DISTINCT hashtextextended(k.name, 7046029254386353131) AS lock
                FROM unnest(?::text[]) AS k (name) ORDER BY lock
            )
            SELECT pg_advisory_xact_lock(l.lock) FROM locks l
            """;

    void take(Connection connection, List<OutboxEvent> events) {
        String[] keys = events.stream()
                .filter(event -> event.key().isPresent())
                .map(event -> event.stream().length() + ":" + event.stream()
                        + event.key().get())
                .distinct()
                .toArray(String[]::new);
        if (keys.length > MOST_KEYS) {
            throw new OutboxException("The transaction appends events of " + keys.length
                    + " keys, and strict-key-order locks at most " + MOST_KEYS
                    + " at once. Split the transaction, or turn postrider.strict-key-order off.");
        }
        if (keys.length == 0) {
            return;
        }
        try (PreparedStatement statement = connection.prepareStatement(TAKE)) {
            statement.setArray(1, connection.createArrayOf("text", keys));
            statement.execute();
        } catch (SQLException e) {
            throw new OutboxException(
                    "The keys of " + events.size() + " events could not be locked: " + e.getMessage()
                            + ". Roll your transaction back.",
                    e);
        }
    }
}
