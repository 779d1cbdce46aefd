// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Deletes a row of a table that has a primary key and nothing else: no queue in a table can do with less. */
final class DeleteEach implements EachRound.Each {
    private static final String TABLE = """
            CREATE TABLE IF NOT EXISTS delete_commit (
                id             bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                event_id       uuid        NOT NULL,
                stream         text        NOT NULL,
                event_key      text        NOT NULL,
                event_type     text        NOT NULL,
                aggregate_type text,
                aggregate_id   text,
                payload        bytea,
                content_type   text,
                headers        jsonb       NOT NULL,
                occurred_at    timestamptz NOT NULL
            )
            """;

    private final Rig rig;
    private long firstId;

    DeleteEach(Rig rig) {
        this.rig = rig;
        rig.sql(TABLE);
    }

    @Override
    public String tables() {
        return "delete_commit";
    }

    @Override
    public void fill(int events) {
        rig.sql(DrainRound.fill("delete_commit", events));
        firstId = rig.number("SELECT min(id) FROM delete_commit");
    }

    @Override
    public void in(Connection connection, int number) throws SQLException {
        try (PreparedStatement delete = connection.prepareStatement("DELETE FROM delete_commit WHERE id = ?")) {
            delete.setLong(1, firstId + number);
            delete.executeUpdate();
        }
    }

    @Override
    public long left(int events) {
        return rig.number("SELECT count(*) FROM delete_commit");
    }
}
