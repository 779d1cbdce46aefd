// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.internal.CompetingSql;
import io.postrider.internal.Sql;
import io.postrider.jdbc.ShardStore.Peer;
import io.postrider.jdbc.ShardStore.Wants;
import io.postrider.relay.Delivery;
import io.postrider.relay.Membership;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The statements by which a process that takes events of competing streams keeps its place and its leases, over a connection
 * of their own. Each is a transaction of its own; one that throws may have had its effect. For one thread at a time.
 */
final class MemberStatements implements AutoCloseable {
    private final Session session;
    private final Sql sql;
    private final CompetingSql competing;
    private final CompetingSettings settings;
    private final PlaceStatements places;

    MemberStatements(Session session, Sql sql, CompetingSql competing, CompetingSettings settings) {
        this.session = session;
        this.sql = sql;
        this.competing = competing;
        this.settings = settings;
        this.places = new PlaceStatements(session, sql.shards, settings.group(), settings.lease());
    }

    /**
     * What a renewal showed.
     *
     * @param renewed whether there still was a place to renew
     * @param dueIn for each stream that is not paused and has something to be delivered, in how many nanoseconds
     */
    record Survey(boolean renewed, List<Peer> peers, Map<String, Long> dueIn) {}

    /** Declares the streams of the feed. */
    void declare() {
        Declaration declaration = new Declaration(session, sql, settings.group(), Declaration.Mode.COMPETING);
        settings.streams().forEach(declaration::of);
    }

    long join(String name, Wants wants) {
        return places.join(name, wants);
    }

    Survey tick(long me, Wants wants, Membership.Report report, Set<String> streams) {
        return session.run("renew the lease", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(competing.tick)) {
                statement.setString(1, wants.name());
                statement.setInt(2, report.inFlight());
                statement.setLong(3, report.published());
                statement.setArray(4, EventStatements.array(connection, "text", report.closed()));
                statement.setArray(5, EventStatements.array(connection, "text", streams));
                statement.setLong(6, me);
                statement.setString(7, settings.group());
                statement.setArray(8, EventStatements.array(connection, "text", streams));
                try (ResultSet rows = statement.executeQuery()) {
                    return survey(rows);
                }
            }
        });
    }

    private static Survey survey(ResultSet rows) throws SQLException {
        boolean renewed = false;
        List<Peer> peers = new ArrayList<>();
        Map<String, Long> dueIn = new HashMap<>();
        while (rows.next()) {
            long number = rows.getLong(3);
            boolean known = !rows.wasNull();
            switch (rows.getString(1)) {
                case "ME" -> renewed = true;
                case "RELAY" ->
                    peers.add(new Peer(
                            rows.getLong(2),
                            number,
                            Wants.valueOf(rows.getString(4)),
                            rows.getBoolean(5),
                            Duration.ofMillis(rows.getInt(6)),
                            Set.of()));
                default -> {
                    if (known) {
                        dueIn.put(rows.getString(7), number * 1000);
                    }
                }
            }
        }
        return new Survey(renewed, peers, dueIn);
    }

    /** Has leases begin anew that have not run out; returns the ids of those. */
    Set<Long> extend(long me, Duration lease, List<Delivery> deliveries) {
        return session.run("extend leases", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(competing.extend)) {
                statement.setArray(
                        1, EventStatements.array(connection, "int8", EventStatements.of(deliveries, Delivery::id)));
                statement.setArray(
                        2,
                        EventStatements.array(connection, "int4", EventStatements.of(deliveries, Delivery::revision)));
                statement.setLong(3, me);
                statement.setLong(4, lease.toNanos() / 1000);
                return ClaimStatements.ids(statement);
            }
        });
    }

    /** Makes all pending again that is leased by this relay, except for these. */
    void releaseAllBut(long me, Collection<Long> ids) {
        session.run("release events", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(competing.releaseAllBut)) {
                List<String> streams = EventStatements.of(settings.streams(), StreamSettings::name);
                statement.setArray(1, EventStatements.array(connection, "text", streams));
                statement.setLong(2, me);
                statement.setArray(3, EventStatements.array(connection, "int8", ids));
                return statement.executeUpdate();
            }
        });
    }

    boolean declareDead(Peer peer, boolean unmoved) {
        return places.declareDead(peer, unmoved);
    }

    void leave(long me) {
        places.leave(me);
    }

    @Override
    public void close() {
        session.close();
    }
}
