// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.internal.Library;
import io.postrider.internal.ShardSql;
import io.postrider.jdbc.ShardStore.Peer;
import io.postrider.jdbc.ShardStore.Wants;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.Duration;

/** The statements by which relays of any kind get, give up and take away places among each other. For one thread. */
record PlaceStatements(Session session, ShardSql sql, String group, Duration lease) {

    /** Makes a new relay; returns its number. */
    long join(String name, Wants wants) {
        return session.run("join the relays", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.join)) {
                statement.setString(1, name);
                statement.setString(2, group);
                statement.setString(3, wants.name());
                statement.setInt(4, (int) lease.toMillis());
                statement.setLong(5, lease.toMillis());
                statement.setString(6, Library.version());
                try (ResultSet rows = statement.executeQuery()) {
                    rows.next();
                    return rows.getLong(1);
                }
            }
        });
    }

    /** Removes the row of a relay that has not moved since it was seen; returns whether it was there so. */
    boolean declareDead(Peer peer, boolean unmoved) {
        return session.run("declare a relay dead", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.declareDead)) {
                statement.setLong(1, peer.id());
                statement.setLong(2, peer.beat());
                statement.setBoolean(3, unmoved);
                return statement.executeUpdate() == 1;
            }
        });
    }

    void leave(long me) {
        session.run("leave the relays", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.leave)) {
                statement.setLong(1, me);
                return statement.executeUpdate();
            }
        });
    }
}
