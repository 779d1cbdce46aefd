// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.OutboxEvent;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.ZoneOffset;

/** One more row with the columns and bytes of an event, in a table that has a primary key and nothing else. */
final class PlainInsert implements Extra {
    static final String TABLE = """
            CREATE TABLE plain_event (
                id             bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                event_id       uuid        NOT NULL,
                stream         text        NOT NULL,
                event_key      text,
                event_type     text        NOT NULL,
                aggregate_type text,
                aggregate_id   text,
                payload        bytea,
                content_type   text,
                headers        jsonb       NOT NULL,
                occurred_at    timestamptz NOT NULL,
                status         text        NOT NULL,
                due_at         timestamptz NOT NULL
            )
            """;

    private static final String INSERT = """
            INSERT INTO plain_event (event_id, stream, event_key, event_type, aggregate_type, aggregate_id, payload,
                                     content_type, headers, occurred_at, status, due_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?, 'PENDING', clock_timestamp())
            """;

    @Override
    public String name() {
        return "plain-insert";
    }

    @Override
    public void in(Connection connection, int number) throws SQLException {
        OutboxEvent event = AppendRound.event(number);
        try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
            insert.setObject(1, event.id());
            insert.setString(2, event.stream());
            insert.setString(3, event.key().orElse(null));
            insert.setString(4, event.type());
            insert.setString(5, event.aggregateType().orElse(null));
            insert.setString(6, event.aggregateId().orElse(null));
            insert.setBytes(7, event.payload());
            insert.setString(8, event.contentType().orElse(null));
            insert.setString(9, "{}");
            insert.setObject(10, event.occurredAt().atOffset(ZoneOffset.UTC));
            insert.executeUpdate();
        }
    }
}
