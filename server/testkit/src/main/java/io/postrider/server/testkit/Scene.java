// SPDX-License-Identifier: Apache-2.0
package io.postrider.server.testkit;

import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.testkit.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** A database in which something of everything has happened. */
public final class Scene {
    private final DataSource dataSource;

    private Scene(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** Started by the first who asks for a database of its own. */
    private static final class Shared {
        static final PostgresServer SERVER =
                PostgresServer.builder().fsync(false).start();
    }

    /** On a server that all tests of this JVM share. */
    public static Scene empty() {
        return on(Shared.SERVER.createDatabase().dataSource());
    }

    public static Scene on(DataSource dataSource) {
        Schema.of(dataSource).apply(SchemaMode.MIGRATE);
        return new Scene(dataSource);
    }

    public DataSource dataSource() {
        return dataSource;
    }

    public Scene clear() {
        execute("DELETE FROM outbox_event; DELETE FROM outbox_history; DELETE FROM outbox_history_overflow;"
                + " DELETE FROM outbox_attempt; DELETE FROM outbox_relay; DELETE FROM outbox_shard;"
                + " DELETE FROM outbox_stream; DELETE FROM outbox_audit; DELETE FROM inbox_message");
        return this;
    }

    /** Two relays, three streams, a history, a backlog, dead letters, held keys, consumers and some audit entries. */
    public Scene filled() {
        execute("""
                INSERT INTO outbox_stream (stream, relay_group, paused_at, paused_by, pause_reason) VALUES
                    ('order-events', 'default', NULL, NULL, NULL),
                    ('payments', 'default', NULL, NULL, NULL),
                    ('invoices', 'default', clock_timestamp() - interval '12 minutes', 'kim', 'archive is being moved');
                INSERT INTO outbox_relay (name, relay_group, wants, ttl_ms, lease_until, in_flight, published, started_at,
                    version)
                VALUES ('shop-1', 'default', 'SHARDS', 8000000, clock_timestamp() + interval '8000 s', 12, 482117,
                        clock_timestamp() - interval '9 hours', '1.4.0'),
                       ('shop-2', 'default', 'SHARDS', 8000000, clock_timestamp() + interval '8000 s', 9, 301779,
                        clock_timestamp() - interval '95 minutes', NULL);
                INSERT INTO outbox_shard (relay_group, shard, owner, epoch)
                SELECT 'default', n, (SELECT id FROM outbox_relay
                                      WHERE name = CASE WHEN n < 128 THEN 'shop-1' ELSE 'shop-2' END), 3 + n % 4
                FROM generate_series(0, 255) n;
                INSERT INTO outbox_history (id, event_id, stream, event_key, event_type, aggregate_type, aggregate_id,
                    payload, payload_kept, content_type, headers, occurred_at, attempt_count, created_at, outcome,
                    settled_at, settled_by)
                SELECT n, gen_random_uuid(), CASE n % 3 WHEN 0 THEN 'payments' ELSE 'order-events' END, 'order-' || n % 97,
                       CASE n % 3 WHEN 0 THEN 'PaymentCaptured' ELSE 'OrderPlaced' END, 'Order', 'order-' || n % 97,
                       convert_to('{"order": ' || n || '}', 'UTF8'), true, 'application/json', '{"traceparent": "00-1"}',
                       at - interval '40 ms', 0, at - (8 + n % 37 + CASE WHEN n % 50 = 0 THEN 160 ELSE 0 END) * interval '1 ms',
                       'PUBLISHED', at, CASE n % 2 WHEN 0 THEN 'shop-1' ELSE 'shop-2' END
                FROM (SELECT n, greatest(date_trunc('day', clock_timestamp(), 'UTC'),
                                         clock_timestamp() - (2400 - n) * interval '25 ms') AS at
                      FROM generate_series(1, 2400) n) x;
                INSERT INTO outbox_event (stream, event_key, event_type, aggregate_type, aggregate_id, payload,
                    content_type, headers, created_at)
                SELECT 'invoices', 'invoice-' || n, 'InvoiceIssued', 'Invoice', 'invoice-' || n,
                       convert_to('{"invoice": ' || n || '}', 'UTF8'), 'application/json', '{}',
                       clock_timestamp() - (700 - n) * interval '1 second'
                FROM generate_series(1, 64) n;
                INSERT INTO outbox_event (stream, event_key, event_type, payload)
                SELECT 'order-events', 'order-7', 'OrderShipped', '{}' FROM generate_series(1, 12);
                INSERT INTO inbox_message (consumer, event_id)
                SELECT 'billing', gen_random_uuid() FROM generate_series(1, 1830);
                INSERT INTO inbox_message (consumer, event_id)
                SELECT 'search-index', gen_random_uuid() FROM generate_series(1, 944);
                INSERT INTO outbox_audit (at, who, action, stream, reason)
                VALUES (clock_timestamp() - interval '12 minutes', 'kim', 'pause', 'invoices', 'archive is being moved')
                """);
        dead(
                "order-events",
                "'order-' || 199 + n",
                18,
                "OrderPlaced",
                "RECORD_TOO_LARGE",
                "The record has 1398112 bytes and the broker takes at most 1048588");
        dead(
                "payments",
                "'payment-' || n - 1",
                5,
                "PaymentCaptured",
                "UNKNOWN_TOPIC",
                "Topic payments-v2 does not exist on this cluster, and it may not be made");
        execute("UPDATE outbox_event SET status = 'WAITING', holds = true, attempt_count = 2,"
                + " due_at = clock_timestamp() + interval '40 minutes', last_error_code = 'TIMEOUT',"
                + " last_attempt_at = clock_timestamp() - interval '31 seconds',"
                + " last_error_message = 'No answer within 30 s' WHERE id = (SELECT min(id) FROM outbox_event"
                + " WHERE event_key = 'order-7')");
        return this;
    }

    /** Returns its event id. */
    public String dead(String stream, String key, String type, String code, String message) {
        return dead(stream, literal(key), 1, type, code, message).get(0);
    }

    /** @param key SQL, in which n counts from 1 */
    private List<String> dead(String stream, String key, int count, String type, String code, String message) {
        return column("""
                WITH died AS (
                    INSERT INTO outbox_event (stream, event_key, event_type, aggregate_type, aggregate_id, payload,
                        content_type, headers, created_at, status, holds, attempt_count, last_error_code,
                        last_error_message, last_attempt_at)
                    SELECT %s, key, %s, 'Order', key, convert_to(json_build_object('cents', 129900, 'card',
                               json_build_object('token', 'tok_4711', 'last4', '4242'))::text, 'UTF8'),
                           'application/json', '{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                               "tenant": "north", "session-token": "abc123"}',
                           clock_timestamp() - interval '26 minutes', 'DEAD', true, 5, %s, %s,
                           clock_timestamp() - interval '25 minutes'
                    FROM (SELECT %s AS key FROM generate_series(1, %d) n) keys
                    RETURNING id, event_id
                ),
                attempts AS (
                    INSERT INTO outbox_attempt (event_row, event_id, attempted_at, relay, error_code, error_message)
                    SELECT id, event_id, clock_timestamp() - (25 + n) * interval '1 minute', 'shop-1', %s, %s
                    FROM died, generate_series(0, 4) n
                )
                SELECT event_id FROM died
                """.formatted(
                        literal(stream),
                        literal(type),
                        literal(code),
                        literal(message),
                        key,
                        count,
                        literal(code),
                        literal(message)));
    }

    public static String literal(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    public void execute(String sql) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    public List<String> column(String sql) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(String.valueOf(rows.getString(1)));
            }
            return values;
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }
}
