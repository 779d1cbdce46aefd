// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxEvent;
import io.postrider.internal.EventRules;
import io.postrider.internal.HeaderJson;
import io.postrider.internal.LeaseSql;
import io.postrider.internal.Sql;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;

/** Inserts events, with a lease where a relay of this process will send them at their commit. Thread-safe. */
final class Appending {
    private final TableNames tables;
    private final int maxPayload;
    private final Duration lease;
    private final Sql sql;
    private final LeaseSql leaseSql;

    Appending(TableNames tables, int maxPayload, Duration lease) {
        this.tables = tables;
        this.maxPayload = maxPayload;
        this.lease = lease;
        this.sql = new Sql(tables);
        this.leaseSql = new LeaseSql(tables);
    }

    Appending withTables(TableNames tables) {
        return new Appending(tables, maxPayload, lease);
    }

    Appending withMaxPayload(int maxPayload) {
        return new Appending(tables, maxPayload, lease);
    }

    Appending withLease(Duration lease) {
        return new Appending(tables, maxPayload, lease);
    }

    TableNames tables() {
        return tables;
    }

    void check(Collection<OutboxEvent> events) {
        events.forEach(event -> EventRules.checkPayload(event, maxPayload));
    }

    /**
     * Inserts them in this order, in one round trip.
     *
     * @param lessees the relay that shall send an event at its commit; not asked for events that are due later
     * @return whether any of them is leased
     */
    boolean insert(Connection connection, Collection<OutboxEvent> events, Function<OutboxEvent, OptionalLong> lessees)
            throws SQLException {
        List<OptionalLong> asked = events.stream()
                .map(event -> isDueLater(event) ? OptionalLong.empty() : lessees.apply(event))
                .toList();
        boolean leases = asked.stream().anyMatch(OptionalLong::isPresent);
        try (PreparedStatement statement = connection.prepareStatement(leases ? leaseSql.append : sql.append)) {
            Iterator<OptionalLong> lessee = asked.iterator();
            for (OutboxEvent event : events) {
                bind(statement, event);
                OptionalLong its = lessee.next();
                if (its.isPresent()) {
                    statement.setLong(13, lease.toNanos() / 1000);
                }
                if (leases) {
                    bindLease(statement, event, its);
                }
                if (events.size() > 1) {
                    statement.addBatch();
                }
            }
            if (events.size() > 1) {
                // The driver sends a batch in one round trip.
                statement.executeBatch();
            } else {
                statement.executeUpdate();
            }
        }
        return leases;
    }

    private static boolean isDueLater(OutboxEvent event) {
        return event.notBefore().isPresent() || event.delay().isPresent();
    }

    private static void bind(PreparedStatement statement, OutboxEvent event) throws SQLException {
        statement.setObject(1, event.id());
        statement.setString(2, event.stream());
        statement.setString(3, event.key().orElse(null));
        statement.setString(4, event.type());
        statement.setString(5, event.aggregateType().orElse(null));
        statement.setString(6, event.aggregateId().orElse(null));
        statement.setBytes(7, event.payload());
        statement.setString(8, event.contentType().orElse(null));
        statement.setString(9, HeaderJson.write(event.headers()));
        setTime(statement, 10, event.occurredAt());
        if (event.maxAttempts().isPresent()) {
            statement.setInt(11, event.maxAttempts().getAsInt());
        } else {
            statement.setNull(11, Types.INTEGER);
        }
        if (event.notBefore().isPresent()) {
            setTime(statement, 12, event.notBefore().get());
        } else {
            statement.setNull(12, Types.TIMESTAMP_WITH_TIMEZONE);
        }
        statement.setLong(13, event.delay().map(delay -> delay.toNanos() / 1000).orElse(0L));
    }

    private static void bindLease(PreparedStatement statement, OutboxEvent event, OptionalLong lessee)
            throws SQLException {
        statement.setString(14, lessee.isPresent() ? "WAITING" : "PENDING");
        statement.setBoolean(15, lessee.isPresent() && event.key().isPresent());
        if (lessee.isPresent()) {
            statement.setLong(16, lessee.getAsLong());
        } else {
            statement.setNull(16, Types.BIGINT);
        }
    }

    private static void setTime(PreparedStatement statement, int index, Instant time) throws SQLException {
        statement.setObject(index, time.atOffset(ZoneOffset.UTC));
    }
}
