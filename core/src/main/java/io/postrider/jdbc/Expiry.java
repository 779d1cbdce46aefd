// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Delivery;
import io.postrider.relay.Outcome;
import io.postrider.relay.Verdict;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/** How the time at which an event expires comes from its row to its delivery. */
final class Expiry {
    private static final long FAR_AWAY_MICROS = Duration.ofDays(10_000).toNanos() / 1000;

    private Expiry() {}

    /**
     * The delivery with the time at which it expires, if it does.
     *
     * @param column in how many microseconds that is, by the database's clock; not above zero: it has expired
     * @param before the ticker's reading from before the statement: so it is too early, never too late
     */
    static Delivery of(Delivery delivery, ResultSet rows, int column, long before) throws SQLException {
        long micros = rows.getLong(column);
        return rows.wasNull()
                ? delivery
                : delivery.expiring(micros <= 0, before + Math.min(micros, FAR_AWAY_MICROS) * 1000);
    }

    static boolean isExpired(Verdict verdict) {
        return verdict.outcome() instanceof Outcome.Expired;
    }
}
