// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import java.io.PrintStream;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Compares what the database, the exchange and the notifications say in the end. */
final class Books {
    private final DataSource dataSource;
    private final Exchange exchange;
    private final Broker broker;
    private final PrintStream out;
    private boolean agree = true;

    Books(DataSource dataSource, Exchange exchange, Broker broker, PrintStream out) {
        this.dataSource = dataSource;
        this.exchange = exchange;
        this.broker = broker;
        this.out = out;
    }

    /** How much has come to its end: orders, notifications, backtests. */
    static long finished(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return Database.number(connection, "SELECT count(*) FROM trade_order WHERE state <> 'OPEN'")
                    + Database.number(connection, "SELECT count(*) FROM notification_log")
                    + Database.number(connection, "SELECT count(*) FROM backtest_result");
        }
    }

    static boolean isHalted(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return Database.text(connection, "SELECT halted FROM kill_switch")
                    .orElse("f")
                    .equals("t");
        }
    }

    boolean agree(int orders, int late, int backtests) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            table(connection);
            long all = (long) orders + late;
            check(all, "orders have one final state", count(connection, "trade_order WHERE state <> 'OPEN'"));
            check(
                    late,
                    "orders came after the kill switch, and are halted",
                    count(connection, "trade_order WHERE state = 'HALTED'"));
            check(
                    0,
                    "attempts are left without an answer",
                    count(connection, "order_attempt WHERE state IN ('NEW', 'SENT', 'UNKNOWN')"));
            check(0, "accepted orders have more or less than one acknowledged attempt", count(connection, """
                            (SELECT o.id FROM trade_order o LEFT JOIN order_attempt a
                             ON a.order_id = o.id AND a.state = 'ACKED' GROUP BY o.id, o.state
                             HAVING count(a.client_id) <> CASE WHEN o.state = 'ACCEPTED' THEN 1 ELSE 0 END) AS wrong"""));
            check(0, "identifiers were sent to the exchange twice", exchange.placedTwice());
            checkExchange(connection);
            check(
                    all + backtests,
                    "orders and backtests were notified",
                    count(connection, "(SELECT DISTINCT about FROM notification_log) AS told"));
            check(
                    0,
                    "of them were notified twice",
                    count(
                            connection,
                            "(SELECT about FROM notification_log GROUP BY about HAVING count(*) > 1) AS twice"));
            check(backtests, "backtests have their result", count(connection, "backtest_result"));
            check(
                    0,
                    "events are dead or unknown",
                    count(connection, "outbox_event WHERE status IN ('DEAD', 'UNKNOWN')") + broker.deadLetters());
        }
        return agree;
    }

    private void checkExchange(Connection connection) throws SQLException {
        List<String> acked = new ArrayList<>();
        try (PreparedStatement statement =
                        connection.prepareStatement("SELECT client_id FROM order_attempt WHERE state = 'ACKED'");
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                acked.add(rows.getString(1));
            }
        }
        check(acked.size(), "orders are in the book of the exchange", exchange.booked());
        check(
                0,
                "acknowledged orders are not in it",
                acked.stream().filter(id -> !exchange.has(id)).count());
    }

    private void table(Connection connection) throws SQLException {
        out.println();
        out.printf("  %-12s %-16s %8s %12s%n", "attempts", "reason", "count", "was unknown");
        try (PreparedStatement statement = connection.prepareStatement("SELECT state, reason, count(*),"
                        + " count(*) FILTER (WHERE was_unknown) FROM order_attempt GROUP BY 1, 2 ORDER BY 1, 2");
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                out.printf(
                        "  %-12s %-16s %8d %12d%n",
                        rows.getString(1), rows.getString(2), rows.getLong(3), rows.getLong(4));
            }
        }
        out.println();
    }

    private static long count(Connection connection, String from) throws SQLException {
        return Database.number(connection, "SELECT count(*) FROM " + from);
    }

    private void check(long wanted, String what, long found) {
        boolean good = wanted == found;
        agree &= good;
        out.println("  " + (good ? "✓ " : "✗ ") + found + " " + what + (good ? "" : ", but it should be " + wanted));
    }
}
