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
import java.util.ArrayList;
import java.util.Collection;
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

    /** Events of the same lessee, or without one, that follow each other. */
    private record Batch(OptionalLong lessee, List<OutboxEvent> events) {}

    /**
     * Inserts them in this order: in one round trip, unless some shall be sent at their commit and others not.
     *
     * @param lessees by stream; not asked for events that are due later
     * @return whether any of them may have been leased
     */
    boolean insert(Connection connection, Collection<OutboxEvent> events, Function<String, OptionalLong> lessees)
            throws SQLException {
        List<Batch> batches = new ArrayList<>();
        for (OutboxEvent event : events) {
            OptionalLong lessee = isDueLater(event) ? OptionalLong.empty() : lessees.apply(event.stream());
            Batch last = batches.isEmpty() ? null : batches.get(batches.size() - 1);
            if (last == null || !last.lessee.equals(lessee)) {
                last = new Batch(lessee, new ArrayList<>());
                batches.add(last);
            }
            last.events.add(event);
        }
        for (Batch batch : batches) {
            insert(connection, batch);
        }
        return batches.stream().anyMatch(batch -> batch.lessee.isPresent());
    }

    private static boolean isDueLater(OutboxEvent event) {
        return event.notBefore().isPresent() || event.delay().isPresent();
    }

    private void insert(Connection connection, Batch batch) throws SQLException {
        String text = batch.lessee.isPresent() ? leaseSql.append : sql.append;
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            if (batch.events.size() == 1) {
                bind(statement, batch.events.get(0), batch.lessee);
                statement.executeUpdate();
                return;
            }
            // The driver sends a batch in one round trip.
            for (OutboxEvent event : batch.events) {
                bind(statement, event, batch.lessee);
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }

    private void bind(PreparedStatement statement, OutboxEvent event, OptionalLong lessee) throws SQLException {
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
        if (lessee.isPresent()) {
            statement.setLong(12, lessee.getAsLong());
            statement.setLong(13, lease.toNanos() / 1000);
        } else {
            bindDue(statement, event);
        }
    }

    private static void bindDue(PreparedStatement statement, OutboxEvent event) throws SQLException {
        if (event.notBefore().isPresent()) {
            setTime(statement, 12, event.notBefore().get());
        } else {
            statement.setNull(12, Types.TIMESTAMP_WITH_TIMEZONE);
        }
        statement.setLong(13, event.delay().map(delay -> delay.toNanos() / 1000).orElse(0L));
    }

    private static void setTime(PreparedStatement statement, int index, Instant time) throws SQLException {
        statement.setObject(index, time.atOffset(ZoneOffset.UTC));
    }
}
