// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** What an application would write by itself to note an event: it fails if that is there already. */
final class PlainNote implements Extra {
    static final String TABLE = """
            CREATE TABLE IF NOT EXISTS plain_processed (
                consumer     text        NOT NULL,
                event_id     uuid        NOT NULL,
                processed_at timestamptz NOT NULL DEFAULT now(),
                PRIMARY KEY (consumer, event_id)
            )
            """;

    @Override
    public String name() {
        return "plain-insert";
    }

    @Override
    public void in(Connection connection, int number) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO plain_processed (consumer, event_id) VALUES (?, ?)")) {
            insert.setString(1, "billing");
            insert.setObject(2, InboxScenario.eventId());
            insert.executeUpdate();
        }
    }
}
