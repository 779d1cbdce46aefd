// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;

/** Moves money between accounts and tells the world, in one transaction. Thread-safe. */
final class TransferService {
    static final String STREAM = "transfers";
    private static final String CHECK_VIOLATION = "23514";

    private final JdbcOutbox outbox;

    TransferService(DataSource dataSource) {
        outbox = JdbcOutbox.of(dataSource);
    }

    /** The debtor has not that much; nothing has happened. */
    static final class InsufficientFundsException extends RuntimeException {
        private static final long serialVersionUID = 1;

        InsufficientFundsException(int debtor) {
            super("Account " + debtor + " has insufficient funds");
        }
    }

    /**
     * Moves the money and appends {@code TransferCompleted}: both are committed, or neither is.
     *
     * @throws InsufficientFundsException after the event was appended, so that the rollback takes it back
     */
    void transfer(int debtor, int creditor, long cents) throws SQLException {
        outbox.transact(tx -> {
            int sequence = lockAccounts(tx.connection(), debtor, creditor);
            OutboxEvent completed = OutboxEvent.of(STREAM, "TransferCompleted")
                    .aggregate("Account", debtor) // the key: events of one debtor arrive in order
                    .json("""
                            {"debtor": %d, "creditor": %d, "cents": %d, "sequence": %d}""".formatted(debtor, creditor, cents, sequence))
                    .build();
            tx.append(completed);
            insertTransfer(tx.connection(), completed.id(), debtor, creditor, cents, sequence);
            moveMoney(tx.connection(), debtor, creditor, cents);
        });
    }

    /** Locks both rows, always in the order of their ids, and numbers this debit. */
    private static int lockAccounts(Connection connection, int debtor, int creditor) throws SQLException {
        String sql = "SELECT id, debits FROM account WHERE id IN (?, ?) ORDER BY id FOR UPDATE";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setInt(1, debtor);
            statement.setInt(2, creditor);
            try (ResultSet rows = statement.executeQuery()) {
                int sequence = 0;
                while (rows.next()) {
                    if (rows.getInt("id") == debtor) {
                        sequence = rows.getInt("debits") + 1;
                    }
                }
                return sequence;
            }
        }
    }

    private static void insertTransfer(
            Connection connection, UUID id, int debtor, int creditor, long cents, int sequence) throws SQLException {
        String sql = "INSERT INTO transfer (event_id, debtor, creditor, cents, sequence) VALUES (?, ?, ?, ?, ?)";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setObject(1, id);
            statement.setInt(2, debtor);
            statement.setInt(3, creditor);
            statement.setLong(4, cents);
            statement.setInt(5, sequence);
            statement.executeUpdate();
        }
    }

    private static void moveMoney(Connection connection, int debtor, int creditor, long cents) throws SQLException {
        String sql = """
                UPDATE account SET balance = balance + change, debits = debits + debit
                FROM (VALUES (?, -?::bigint, 1), (?, ?::bigint, 0)) AS leg (account, change, debit)
                WHERE id = account""";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setInt(1, debtor);
            statement.setLong(2, cents);
            statement.setInt(3, creditor);
            statement.setLong(4, cents);
            statement.executeUpdate();
        } catch (SQLException e) {
            if (CHECK_VIOLATION.equals(e.getSQLState())) {
                throw new InsufficientFundsException(debtor);
            }
            throw e;
        }
    }
}
