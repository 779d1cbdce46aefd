// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import io.postrider.OutboxEvent;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.SplittableRandom;

/** One transaction of a writer: business rows, ledger rows and events. */
record LedgerTransaction(Connection connection, String stream, int padding) {
    private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789äß€";

    /** Writes {@code count} events spread over the keys, in the order of the keys; the caller decides on the commit. */
    void write(Ledger.Appender appender, List<String> keys, int count, SplittableRandom random) throws SQLException {
        int left = count;
        for (int i = 0; i < keys.size(); i++) {
            int share = left / (keys.size() - i);
            left -= share;
            String key = keys.get(i);
            long seq = lock(key);
            for (int n = 1; n <= share; n++) {
                append(appender, new LedgerPayload(key, seq + n, filling(random)));
            }
            advance(key, seq + share);
        }
    }

    /** Rolls back what can still be rolled back. */
    void abandon() {
        try {
            connection.rollback();
        } catch (SQLException e) {
            // The connection is lost, and the transaction with it.
        }
    }

    /** Waits for other writers of this key and returns the number of its last event. */
    private long lock(String key) throws SQLException {
        try (PreparedStatement select =
                connection.prepareStatement("SELECT seq FROM ledger_key WHERE name = ? FOR UPDATE")) {
            select.setString(1, key);
            try (ResultSet row = select.executeQuery()) {
                if (!row.next()) {
                    throw new IllegalStateException("The ledger does not know the key " + key);
                }
                return row.getLong(1);
            }
        }
    }

    private void advance(String key, long seq) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement("UPDATE ledger_key SET seq = ? WHERE name = ?")) {
            update.setLong(1, seq);
            update.setString(2, key);
            update.executeUpdate();
        }
    }

    private void append(Ledger.Appender appender, LedgerPayload payload) throws SQLException {
        OutboxEvent event = OutboxEvent.of(stream, "LedgerEntryWritten")
                .aggregate("LedgerKey", payload.key())
                .json(payload.json())
                .header("ledger-seq", Long.toString(payload.seq()))
                .build();
        try (PreparedStatement business =
                        connection.prepareStatement("INSERT INTO ledger_business (event_id, note) VALUES (?, ?)");
                PreparedStatement ledger = connection.prepareStatement(
                        "INSERT INTO ledger (event_id, key_name, key_seq, payload_hash) VALUES (?, ?, ?, ?)")) {
            business.setString(1, event.id().toString());
            business.setString(2, payload.key() + " " + payload.seq());
            business.executeUpdate();
            ledger.setString(1, event.id().toString());
            ledger.setString(2, payload.key());
            ledger.setLong(3, payload.seq());
            ledger.setLong(4, LedgerPayload.hash(event.payload()));
            ledger.executeUpdate();
        }
        appender.append(connection, event);
    }

    private String filling(SplittableRandom random) {
        int length = padding == 0 ? 0 : random.nextInt(padding + 1);
        StringBuilder text = new StringBuilder(length);
        for (int i = 0; i < length; i++) {
            text.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
        }
        return text.toString();
    }
}
