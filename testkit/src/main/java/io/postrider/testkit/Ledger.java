// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import io.postrider.OutboxEvent;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * The judge of every fault test: writes down, in the same transaction as each event, that the event exists, and later
 * compares that with what was delivered.
 *
 * <pre>{@code
 * Ledger ledger = Ledger.create(dataSource);
 * DeliveryLog log = DeliveryLog.inMemory();
 * try (LedgerWriters writers = ledger.writers(appender).events(20_000).seed(seed).start()) {
 *     ... run relays that deliver into the log, and break things ...
 *     writers.awaitDone(Duration.ofMinutes(1));
 * }
 * ledger.awaitDelivered(log, Duration.ofSeconds(30));
 * ledger.check(log).assertSound(inFlight);
 * }</pre>
 *
 * <p>The writers of a key wait for each other, so that the number of an event within its key is also the order of the
 * commits. The table is the truth: also about a commit whose answer was lost. Thread-safe.
 */
public final class Ledger {
    private static final String SERIALIZATION_FAILURE = "40001";
    private static final List<String> TABLES = List.of("""
            CREATE TABLE ledger_key (
                name VARCHAR(64) PRIMARY KEY,
                seq BIGINT NOT NULL)""", """
            CREATE TABLE ledger (
                event_id VARCHAR(36) PRIMARY KEY,
                key_name VARCHAR(64) NOT NULL,
                key_seq BIGINT NOT NULL,
                payload_hash BIGINT NOT NULL,
                UNIQUE (key_name, key_seq))""", """
            CREATE TABLE ledger_business (
                event_id VARCHAR(36) PRIMARY KEY,
                note VARCHAR(200) NOT NULL)""");

    private final DataSource source;

    private Ledger(DataSource source) {
        this.source = source;
    }

    /** Writes one event in the transaction of this connection, which it neither commits nor rolls back. */
    public interface Appender {
        void append(Connection connection, OutboxEvent event) throws SQLException;

        /** The transaction of this connection was committed, by the thread that appended in it. */
        default void committed(Connection connection) {}

        /** It was rolled back, or its outcome is not known. */
        default void forgotten(Connection connection) {}
    }

    /** Creates the ledger's tables ({@code ledger}, {@code ledger_key} and {@code ledger_business}). */
    public static Ledger create(DataSource source) {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            for (String table : TABLES) {
                statement.execute(table);
            }
        } catch (SQLException e) {
            throw new IllegalStateException("The tables of the ledger could not be created: " + e.getMessage(), e);
        }
        return open(source);
    }

    /** The ledger whose tables are there already, such as in another process. */
    public static Ledger open(DataSource source) {
        return new Ledger(source);
    }

    /** Starts the description of writers that append their events by this. */
    public LedgerWriters.Builder writers(Appender appender) {
        return new LedgerWriters.Builder(this, appender);
    }

    /** How many events have been committed so far. */
    public long committed() {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM ledger")) {
            rows.next();
            return rows.getLong(1);
        } catch (SQLException e) {
            throw unreadable(e);
        }
    }

    /** Waits until as many different events have been delivered as were committed; false if they were not in time. */
    public boolean awaitDelivered(DeliveryLog log, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        // Read again at the end: a commit whose answer was lost may have come late.
        for (long committed = committed(); ; committed = committed()) {
            while (log.distinct() < committed) {
                if (System.nanoTime() - deadline > 0) {
                    return false;
                }
                Pause.millis(20);
            }
            if (committed() == committed) {
                return true;
            }
        }
    }

    /** Compares what is committed now with what has been delivered. Call it when the writers have ended. */
    public LedgerReport check(DeliveryLog log) {
        // In this order: an event that was delivered before the first line was committed before the second.
        List<DeliveryLog.Entry> deliveries = log.entries();
        return new LedgerCheck(rows()).of(deliveries);
    }

    DataSource source() {
        return source;
    }

    /** Makes sure that these keys are there to be locked; several processes may do so at once. */
    void addKeys(List<String> names) {
        try (Connection connection = source.getConnection();
                PreparedStatement insert = connection.prepareStatement(
                        "INSERT INTO ledger_key (name, seq) VALUES (?, 0) ON CONFLICT DO NOTHING")) {
            for (String name : names) {
                insert.setString(1, name);
                add(insert);
            }
        } catch (SQLException e) {
            throw new IllegalStateException("The keys of the ledger could not be written: " + e.getMessage(), e);
        }
    }

    /** Once more where another process adds the same key: a repeatable read does not see what that has committed. */
    private static void add(PreparedStatement insert) throws SQLException {
        while (true) {
            try {
                insert.executeUpdate();
                return;
            } catch (SQLException e) {
                if (!SERIALIZATION_FAILURE.equals(e.getSQLState())) {
                    throw e;
                }
            }
        }
    }

    private Map<UUID, LedgerCheck.Row> rows() {
        Map<UUID, LedgerCheck.Row> all = new LinkedHashMap<>();
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("""
                        SELECT event_id, key_name, key_seq, payload_hash
                        FROM ledger ORDER BY key_name, key_seq""")) {
            while (rows.next()) {
                all.put(
                        UUID.fromString(rows.getString(1)),
                        new LedgerCheck.Row(rows.getString(2), rows.getLong(3), rows.getLong(4)));
            }
            return all;
        } catch (SQLException e) {
            throw unreadable(e);
        }
    }

    private static IllegalStateException unreadable(SQLException e) {
        return new IllegalStateException("The ledger could not be read: " + e.getMessage(), e);
    }
}
