// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.internal.Sql;
import io.postrider.relay.Delivery;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The statements about shards to be careful with, over a loop's connection. For one thread. */
final class SuspectStatements {
    private final Session session;
    private final Sql sql;
    private final OrderedSettings settings;
    private final Ownership ownership;

    SuspectStatements(Session session, Sql sql, OrderedSettings settings, Ownership ownership) {
        this.session = session;
        this.sql = sql;
        this.settings = settings;
        this.ownership = ownership;
    }

    /** As {@link EventStore#mark}. */
    Set<Long> mark(List<Delivery> suspects) {
        List<ShardClaim> claims = EventStatements.of(suspects, ShardClaim::of);
        return session.run("mark events before they are sent", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.mark)) {
                statement.setArray(
                        1, EventStatements.array(connection, "int2", EventStatements.of(claims, ShardClaim::shard)));
                statement.setArray(
                        2, EventStatements.array(connection, "int8", EventStatements.of(claims, ShardClaim::epoch)));
                statement.setArray(
                        3, EventStatements.array(connection, "int8", EventStatements.of(suspects, Delivery::id)));
                statement.setLong(4, ownership.member());
                statement.setString(5, settings.group());
                statement.setString(6, settings.group());
                try (ResultSet rows = statement.executeQuery()) {
                    Set<Long> noted = new HashSet<>();
                    while (rows.next()) {
                        noted.add(rows.getLong(1));
                    }
                    return noted;
                }
            }
        });
    }

    /** As {@link EventStore#calm}. */
    void calm(Map<Integer, Long> shards) {
        session.run("calm shards", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.calm)) {
                statement.setArray(1, EventStatements.array(connection, "int2", shards.keySet()));
                statement.setArray(2, EventStatements.array(connection, "int8", shards.values()));
                statement.setString(3, settings.group());
                statement.setLong(4, ownership.member());
                return statement.executeUpdate();
            }
        });
    }
}
