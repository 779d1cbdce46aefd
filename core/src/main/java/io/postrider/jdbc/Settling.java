// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.internal.Sql;
import io.postrider.relay.Delivery;
import io.postrider.relay.FeedException;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Records that events were delivered. For one thread. */
final class Settling {
    private static final Logger log = LoggerFactory.getLogger(Settling.class);
    /** check_violation: also what PostgreSQL answers when a row fits no partition. */
    static final String NO_PARTITION = "23514";

    private final Session session;
    private final Sql sql;
    private final String relay;

    /** @param relay as whose deliveries they go to the history */
    Settling(Session session, Sql sql, String relay) {
        this.session = session;
        this.sql = sql;
        this.relay = relay;
    }

    /** Removes what is there as it was sent, into the history if its stream keeps one. */
    void settle(List<Delivery> published) {
        List<Delivery> ordered = new ArrayList<>(published);
        // All who lock several rows lock them in this order.
        ordered.sort(Comparator.comparingLong(Delivery::id));
        List<Delivery> kept =
                ordered.stream().filter(d -> RowClaim.of(d).keepsHistory()).toList();
        List<Delivery> plain =
                ordered.stream().filter(d -> !RowClaim.of(d).keepsHistory()).toList();
        if (!plain.isEmpty()) {
            settle(sql.settle, plain, false);
        }
        if (kept.isEmpty()) {
            return;
        }
        try {
            settle(sql.settleWithHistory, kept, true);
        } catch (FeedException e) {
            if (!(e.getCause() instanceof SQLException cause && NO_PARTITION.equals(cause.getSQLState()))) {
                throw e;
            }
            log.warn("The history has no partition for today; {} events go to its overflow table", kept.size());
            settle(sql.settleWithOverflow, kept, true);
        }
    }

    private void settle(String statementText, List<Delivery> deliveries, boolean history) {
        int gone = session.run(
                "settle events", connection -> settle(connection, statementText, deliveries, history ? relay : null));
        if (gone < deliveries.size()) {
            log.debug(
                    "{} of {} delivered events had been settled or changed by others", deliveries.size() - gone, gone);
        }
    }

    /**
     * Runs a statement that settles, in whatever transaction is open; returns how many were as they were sent.
     *
     * @param by who settles, for the history; {@code null}: the statement keeps none
     */
    static int settle(Connection connection, String text, List<Delivery> deliveries, @Nullable String by)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            statement.setArray(
                    1, EventStatements.array(connection, "int8", EventStatements.of(deliveries, Delivery::id)));
            statement.setBytes(2, asSent(deliveries));
            if (by != null) {
                statement.setString(3, by);
            }
            return statement.executeUpdate();
        }
    }

    /** The identity and revision of each, in 20 bytes. */
    private static byte[] asSent(List<Delivery> deliveries) {
        ByteBuffer bytes = ByteBuffer.allocate(deliveries.size() * 20);
        for (Delivery each : deliveries) {
            UUID id = each.event().id();
            bytes.putLong(id.getMostSignificantBits())
                    .putLong(id.getLeastSignificantBits())
                    .putInt(each.revision());
        }
        return bytes.array();
    }
}
