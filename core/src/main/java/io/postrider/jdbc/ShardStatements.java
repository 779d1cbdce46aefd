// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.internal.Sql;
import io.postrider.relay.Membership;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The statements on the tables of relays and shards, over a connection of their own. For one thread. */
final class ShardStatements implements ShardStore {
    private final Session session;
    private final Sql sql;
    private final OrderedSettings settings;
    private final PlaceStatements places;

    ShardStatements(Session session, Sql sql, OrderedSettings settings) {
        this.session = session;
        this.sql = sql;
        this.settings = settings;
        this.places = new PlaceStatements(session, sql.shards, settings.group(), settings.lease());
    }

    @Override
    public long join(String name, Wants wants) {
        session.run("make the shards of group " + settings.group(), connection -> {
            try (PreparedStatement shards = connection.prepareStatement(sql.shards.makeShards)) {
                shards.setString(1, settings.group());
                return shards.executeUpdate();
            }
        });
        return places.join(name, wants);
    }

    @Override
    public Survey tick(long me, Wants wants, Membership.Report report) {
        return session.run("renew the lease", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.shards.tick)) {
                statement.setString(1, wants.name());
                statement.setInt(2, report.inFlight());
                statement.setLong(3, report.published());
                statement.setArray(4, EventStatements.array(connection, "text", report.closed()));
                statement.setLong(5, me);
                statement.setString(6, settings.group());
                statement.setString(7, settings.group());
                try (ResultSet rows = statement.executeQuery()) {
                    return survey(rows);
                }
            }
        });
    }

    @Override
    public boolean declareDead(Peer peer, boolean unmoved) {
        return places.declareDead(peer, unmoved);
    }

    @Override
    public Won take(long me, List<Seen> free) {
        return session.run("take shards", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.shards.takeShards)) {
                statement.setArray(
                        1,
                        EventStatements.array(
                                connection,
                                "int2",
                                free.stream().map(Seen::shard).toList()));
                statement.setArray(
                        2,
                        EventStatements.array(
                                connection,
                                "int8",
                                free.stream().map(Seen::epoch).toList()));
                statement.setString(3, settings.group());
                statement.setLong(4, me);
                statement.setLong(5, me);
                statement.setString(6, settings.group());
                try (ResultSet rows = statement.executeQuery()) {
                    return won(rows);
                }
            }
        });
    }

    @Override
    public void release(long me, Map<Integer, Long> shards) {
        session.run("release shards", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.shards.releaseShards)) {
                statement.setInt(1, Suspects.CAREFUL_FROM);
                statement.setArray(2, EventStatements.array(connection, "int2", shards.keySet()));
                statement.setArray(3, EventStatements.array(connection, "int8", shards.values()));
                statement.setString(4, settings.group());
                statement.setLong(5, me);
                return statement.executeUpdate();
            }
        });
    }

    @Override
    public void leave(long me) {
        places.leave(me);
    }

    @Override
    public void close() {
        session.close();
    }

    private static Won won(ResultSet rows) throws SQLException {
        Map<Integer, Long> epochs = new HashMap<>();
        Map<Integer, Left> left = new HashMap<>();
        while (rows.next()) {
            int shard = rows.getInt(1);
            epochs.put(shard, rows.getLong(2));
            int unclean = rows.getInt(3);
            if (unclean > 0) {
                left.put(shard, new Left(unclean, rows.getLong(4)));
            }
        }
        return new Won(epochs, left);
    }

    private static Set<String> texts(@Nullable Array array) throws SQLException {
        return array == null ? Set.of() : Set.of((String[]) array.getArray());
    }

    private static Survey survey(ResultSet rows) throws SQLException {
        boolean renewed = false;
        List<Peer> peers = new ArrayList<>();
        List<Seen> shards = new ArrayList<>();
        while (rows.next()) {
            switch (rows.getString(1)) {
                case "ME" -> renewed = true;
                case "RELAY" ->
                    peers.add(new Peer(
                            rows.getLong(2),
                            rows.getLong(3),
                            Wants.valueOf(rows.getString(4)),
                            rows.getBoolean(5),
                            Duration.ofMillis(rows.getInt(7)),
                            texts(rows.getArray(8))));
                default -> shards.add(new Seen(rows.getInt(6), rows.getLong(2), rows.getLong(3)));
            }
        }
        return new Survey(renewed, peers, shards);
    }
}
