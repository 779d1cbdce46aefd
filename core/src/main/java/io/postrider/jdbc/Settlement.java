// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.internal.SettleOneSql;
import io.postrider.internal.Sql;
import io.postrider.relay.Delivery;
import io.postrider.relay.NotSentException;
import io.postrider.relay.RetryableFailureException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles events in the transaction of their handler: all of them, or it refuses. Thread-safe. */
final class Settlement {
    private static final Logger log = LoggerFactory.getLogger(Settlement.class);
    private static final long OVERFLOWS_FOR = Duration.ofMinutes(1).toNanos();
    /** For all connections together. */
    private static final long FORGETS_PLANS_EVERY = Duration.ofSeconds(1).toNanos();

    private static final int REMEMBERED = 1_000;

    private final Sql sql;
    private final SettleOneSql one;
    private final String name;
    private final LongSupplier ticker;
    private volatile long overflowsUntil;
    private volatile long plansForgottenAt;
    private final Map<UUID, Integer> refused = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<UUID, Integer> eldest) {
            return size() > REMEMBERED;
        }
    };

    Settlement(Sql sql, SettleOneSql one, String name) {
        this(sql, one, name, System::nanoTime);
    }

    Settlement(Sql sql, SettleOneSql one, String name, LongSupplier ticker) {
        this.sql = sql;
        this.one = one;
        this.name = name;
        this.ticker = ticker;
        this.overflowsUntil = ticker.getAsLong();
        this.plansForgottenAt = overflowsUntil - FORGETS_PLANS_EVERY;
    }

    Settlement name(String other) {
        return new Settlement(sql, one, other, ticker);
    }

    /**
     * Removes all of these.
     *
     * @throws NotSentException if one is not as it was sent, so that somebody else has it: roll back
     */
    void settle(Connection connection, List<Delivery> deliveries) throws SQLException {
        List<Delivery> ordered = deliveries.stream()
                .sorted(Comparator.comparingLong(Delivery::id))
                .toList();
        List<Delivery> kept =
                ordered.stream().filter(d -> RowClaim.of(d).keepsHistory()).toList();
        List<Delivery> plain =
                ordered.stream().filter(d -> !RowClaim.of(d).keepsHistory()).toList();
        int gone = plain.isEmpty() ? 0 : settle(connection, sql.settle, one.settle, plain, null);
        gone += kept.isEmpty() ? 0 : settleWithHistory(connection, kept);
        if (gone != deliveries.size()) {
            throw fenced(deliveries);
        }
    }

    private int settle(
            Connection connection, String ofMany, String ofOne, List<Delivery> deliveries, @Nullable String by)
            throws SQLException {
        long began = ticker.getAsLong();
        int gone = deliveries.size() == 1
                ? settleOne(connection, ofOne, deliveries.get(0), by)
                : Settling.settle(connection, ofMany, deliveries, by);
        long now = ticker.getAsLong();
        if (Plans.isDear(now - began) && now - plansForgottenAt >= FORGETS_PLANS_EVERY) {
            plansForgottenAt = now;
            Plans.forget(connection);
        }
        return gone;
    }

    private static int settleOne(Connection connection, String text, Delivery delivery, @Nullable String by)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            statement.setLong(1, delivery.id());
            statement.setObject(2, delivery.event().id());
            statement.setInt(3, delivery.revision());
            if (by != null) {
                statement.setString(4, by);
            }
            return statement.executeUpdate();
        }
    }

    private int settleWithHistory(Connection connection, List<Delivery> kept) throws SQLException {
        boolean overflows = overflowsUntil - ticker.getAsLong() > 0;
        try {
            return overflows
                    ? settle(connection, sql.settleWithOverflow, one.settleWithOverflow, kept, name)
                    : settle(connection, sql.settleWithHistory, one.settleWithHistory, kept, name);
        } catch (SQLException e) {
            if (overflows || !Settling.NO_PARTITION.equals(e.getSQLState())) {
                throw e;
            }
            // The transaction is broken now, so the event goes once more.
            log.warn("The history has no partition for today; handled events go to its overflow table");
            overflowsUntil = ticker.getAsLong() + OVERFLOWS_FOR;
            throw new NotSentException("NO_PARTITION", "The history has no partition for today");
        }
    }

    /** Which of these are still there; waits for transactions that are about to end. */
    Set<Long> unsettled(Connection connection, List<Delivery> deliveries) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.unsettled)) {
            statement.setArray(
                    1,
                    EventStatements.array(
                            connection,
                            "int8",
                            deliveries.stream().map(Delivery::id).toList()));
            statement.setArray(
                    2,
                    EventStatements.array(
                            connection,
                            "uuid",
                            deliveries.stream().map(d -> d.event().id()).toList()));
            try (ResultSet rows = statement.executeQuery()) {
                Set<Long> left = new HashSet<>();
                while (rows.next()) {
                    left.add(rows.getLong(1));
                }
                return left;
            }
        }
    }

    /** What somebody else has does not come back as it was; what does come back so is in another database. */
    private RuntimeException fenced(List<Delivery> deliveries) {
        Delivery first = deliveries.get(0);
        if (deliveries.size() == 1 && wasRefused(first)) {
            return new RetryableFailureException(
                    "NOT_IN_THIS_DATABASE",
                    "The event is not in the table of the handler's database. Give SameTransaction the data source and"
                            + " the tables of the relay's feed",
                    null);
        }
        return new NotSentException("FENCED", "Somebody else has settled or judged the event, so nothing was done");
    }

    private boolean wasRefused(Delivery delivery) {
        synchronized (refused) {
            Integer before = refused.put(delivery.event().id(), delivery.revision());
            return before != null && before == delivery.revision();
        }
    }
}
