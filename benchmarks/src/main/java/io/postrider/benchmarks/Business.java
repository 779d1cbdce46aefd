// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.OutboxEvent;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** What an application would write beside an event. */
final class Business {
    static final String TABLE = """
            CREATE TABLE IF NOT EXISTS business_order (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                customer text NOT NULL,
                amount integer NOT NULL,
                placed_at timestamptz NOT NULL DEFAULT now()
            )
            """;
    static final String INSERT = "INSERT INTO business_order (customer, amount) VALUES (?, ?)";

    private Business() {}

    static void bind(PreparedStatement insert, int number) throws SQLException {
        insert.setString(1, "customer-" + number % 1000);
        insert.setInt(2, number);
    }

    static OutboxEvent event(String key, byte[] payload) {
        return OutboxEvent.of(Rig.TOPIC, "OrderPlaced")
                .aggregate("Order", key)
                .payload(payload, "application/octet-stream")
                .build();
    }
}
