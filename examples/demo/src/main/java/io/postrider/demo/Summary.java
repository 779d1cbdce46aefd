// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import javax.sql.DataSource;

/**
 * The service's ledger against the consumer's.
 *
 * @param delivered committed transfers that the consumer has, and that say the same there
 * @param neverCommitted what the consumer has although it was rolled back
 * @param outOfOrder events that came after a later one of the same account
 */
record Summary(long committed, long delivered, long neverCommitted, long outOfOrder, long cents) {
    private static final String COMPARE = """
            SELECT (SELECT count(*) FROM transfer),
                   (SELECT count(*) FROM transfer t JOIN risk_log r USING (event_id)
                    WHERE (r.account, r.sequence, r.cents) = (t.debtor, t.sequence, t.cents)),
                   (SELECT count(*) FROM risk_log r
                    WHERE NOT EXISTS (SELECT FROM transfer t WHERE t.event_id = r.event_id)),
                   (SELECT count(*) FILTER (WHERE sequence < latest)
                    FROM (SELECT sequence, max(sequence) OVER (PARTITION BY account ORDER BY position) AS latest
                          FROM risk_log) arrival),
                   (SELECT sum(balance) FROM account)""";

    static Summary of(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(COMPARE)) {
            row.next();
            return new Summary(row.getLong(1), row.getLong(2), row.getLong(3), row.getLong(4), row.getLong(5));
        }
    }

    private long lost() {
        return committed - delivered;
    }

    private boolean isDelivered(int events) {
        return committed == events && lost() == 0 && outOfOrder == 0;
    }

    boolean agrees(int events) {
        return isDelivered(events) && neverCommitted == 0 && cents == Bank.ALL_CENTS;
    }

    void print(Console console, int events, long rolledBack, long duplicates) {
        console.line("");
        console.line("  " + console.mark(isDelivered(events)) + " "
                + console.bold(committed + " committed · " + delivered + " delivered · " + lost() + " lost · "
                        + outOfOrder + " out of order · " + duplicates + " duplicates dropped"));
        console.line("  " + console.mark(neverCommitted == 0) + " " + rolledBack + " rolled back for want of money, "
                + (neverCommitted == 0 ? "none" : neverCommitted) + " of them seen by the consumer");
        console.line("  " + console.mark(cents == Bank.ALL_CENTS) + " all balances together are " + money(cents)
                + ", at the start they were " + money(Bank.ALL_CENTS));
    }

    private static String money(long cents) {
        return String.format(Locale.ROOT, "%.2f", cents / 100.0);
    }
}
