// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxEvent;
import io.postrider.internal.EventMdc;
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
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Inserts events, with a lease where a relay of this process will send them at their commit. Thread-safe. */
final class Appending {
    private static final Logger log = LoggerFactory.getLogger(JdbcOutbox.class);

    private final TableNames tables;
    private final int maxPayload;
    private final Duration lease;
    private final Sql sql;
    private final LeaseSql leaseSql;

    /**
     * What an append wrote.
     *
     * @param leased whether any of them is leased
     * @param events without those that were there already
     */
    record Inserted(boolean leased, List<OutboxEvent> events) {}

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
     */
    Inserted insert(Connection connection, Collection<OutboxEvent> events, Function<OutboxEvent, OptionalLong> lessees)
            throws SQLException {
        List<OptionalLong> asked = events.stream()
                .map(event -> isDueLater(event) ? OptionalLong.empty() : lessees.apply(event))
                .toList();
        boolean leases = asked.stream().anyMatch(OptionalLong::isPresent);
        boolean terms = events.stream().anyMatch(Appending::hasTerms);
        try (PreparedStatement statement = connection.prepareStatement(statement(leases, terms))) {
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
                if (terms) {
                    bindTerms(statement, leases ? 17 : 14, event);
                }
                if (events.size() > 1) {
                    statement.addBatch();
                }
            }
            if (events.size() > 1) {
                // The driver sends a batch in one round trip.
                return new Inserted(leases, written(events, statement.executeBatch()));
            }
            return new Inserted(leases, written(events, new int[] {statement.executeUpdate()}));
        }
    }

    private String statement(boolean leases, boolean terms) {
        return leases ? terms ? leaseSql.appendWithTerms : leaseSql.append : terms ? sql.appendWithTerms : sql.append;
    }

    /** Those that were not there already, as far as the driver says; of rewritten batches it does not. */
    private static List<OutboxEvent> written(Collection<OutboxEvent> events, int[] counts) {
        List<OutboxEvent> written = new ArrayList<>(events.size());
        int next = 0;
        for (OutboxEvent event : events) {
            if (counts[next++] != 0) {
                written.add(event);
            } else {
                logSkipped(event);
            }
        }
        return written;
    }

    private static void logSkipped(OutboxEvent event) {
        if (log.isDebugEnabled()) {
            try (EventMdc mdc = EventMdc.of(event, 0)) {
                event.dedupKey().ifPresent(key -> mdc.with("dedupKey", key));
                log.debug("Not appended: an event with its id, or with its dedup key, is not settled yet");
            }
        }
    }

    private static boolean hasTerms(OutboxEvent event) {
        return event.dedupKey().isPresent()
                || event.expiresAt().isPresent()
                || event.expiresIn().isPresent();
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

    private static void bindTerms(PreparedStatement statement, int first, OutboxEvent event) throws SQLException {
        if (event.expiresAt().isPresent()) {
            setTime(statement, first, event.expiresAt().get());
        } else {
            statement.setNull(first, Types.TIMESTAMP_WITH_TIMEZONE);
        }
        if (event.expiresIn().isPresent()) {
            statement.setLong(first + 1, event.expiresIn().get().toNanos() / 1000);
        } else {
            statement.setNull(first + 1, Types.BIGINT);
        }
        statement.setString(first + 2, event.dedupKey().orElse(null));
    }

    private static void setTime(PreparedStatement statement, int index, Instant time) throws SQLException {
        statement.setObject(index, time.atOffset(ZoneOffset.UTC));
    }
}
