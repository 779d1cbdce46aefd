// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No role can do more than its work, which {@link RolesTest} shows. */
class ForbiddenTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final RoleUsers users = RoleUsers.of(database);

    @BeforeEach
    void clear() {
        database.clear();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "writer: SELECT payload FROM outbox_event",
                "writer: SELECT headers FROM outbox_event",
                "writer: SELECT * FROM outbox_event",
                "writer: SELECT * FROM outbox_history",
                "writer: UPDATE outbox_event SET status = 'DEAD'",
                "writer: UPDATE outbox_event SET payload = 'y'",
                "writer: DELETE FROM outbox_event",
                "writer: INSERT INTO outbox_event (stream, event_type, status) VALUES ('s', 'T', 'DEAD')",
                "writer: INSERT INTO outbox_event (stream, event_type, holds) VALUES ('s', 'T', true)",
                "writer: INSERT INTO outbox_event (stream, event_type, shard) VALUES ('s', 'T', 7)",
                "writer: INSERT INTO outbox_event (stream, event_type, attempt_count) VALUES ('s', 'T', 99)",
                "writer: INSERT INTO outbox_event (stream, event_type, revision) VALUES ('s', 'T', 7)",
                "writer: INSERT INTO outbox_event (stream, event_type, last_error_code) VALUES ('s', 'T', 'X')",
                "writer: INSERT INTO outbox_event (stream, event_type, created_at) VALUES ('s', 'T', now())",
                "writer: SELECT dedup_key FROM outbox_event",
                "writer: UPDATE outbox_event SET dedup_key = NULL",
                "writer: INSERT INTO outbox_event (stream, event_type, dedup_key) VALUES ('s', 'T', 'd')"
                        + " ON CONFLICT (stream, dedup_key) WHERE dedup_key IS NOT NULL AND status = 'PENDING' DO NOTHING",
                "committer: SELECT dedup_key FROM outbox_event",
                "relay: UPDATE outbox_event SET expires_at = NULL",
                "relay: UPDATE outbox_event SET dedup_key = NULL",
                "writer: UPDATE outbox_shard SET owner = NULL",
                "writer: UPDATE outbox_stream SET paused_at = NULL",
                "writer: SELECT outbox_history_drop(interval '0')",
                "committer: SELECT payload FROM outbox_event",
                "committer: SELECT headers FROM outbox_event",
                "committer: SELECT status FROM outbox_event",
                "committer: SELECT name FROM outbox_relay",
                "committer: SELECT last_error_message FROM outbox_event",
                "committer: UPDATE outbox_event SET status = 'DEAD'",
                "committer: UPDATE outbox_event SET locked_by = NULL",
                "committer: DELETE FROM outbox_event",
                "committer: INSERT INTO outbox_event (stream, event_type, attempt_count) VALUES ('s', 'T', 99)",
                "committer: UPDATE outbox_relay SET lease_until = now()",
                "committer: UPDATE outbox_stream SET paused_at = NULL",
                "writer: INSERT INTO outbox_event (stream, event_type, locked_by) VALUES ('s', 'T', 1)",
                "relay: UPDATE outbox_event SET payload = 'y'",
                "relay: UPDATE outbox_event SET headers = '{}'",
                "relay: UPDATE outbox_event SET event_key = 'other'",
                "relay: UPDATE outbox_event SET stream = 'other'",
                "relay: UPDATE outbox_event SET event_id = gen_random_uuid()",
                "relay: INSERT INTO outbox_event (stream, event_type) VALUES ('s', 'T')",
                "relay: TRUNCATE outbox_event",
                "relay: SELECT payload FROM outbox_history",
                "relay: DELETE FROM outbox_history",
                "relay: DELETE FROM outbox_audit",
                "relay: DROP TABLE outbox_history",
                "operator: UPDATE outbox_event SET payload = 'y'",
                "operator: UPDATE outbox_event SET event_key = 'other'",
                "operator: INSERT INTO outbox_event (stream, event_type) VALUES ('s', 'T')",
                "operator: DELETE FROM outbox_audit",
                "operator: UPDATE outbox_audit SET who = 'nobody'",
                "operator: DELETE FROM outbox_history",
                "operator: SELECT outbox_history_drop(interval '0')",
                "operator: UPDATE outbox_shard SET owner = NULL",
                "operator: INSERT INTO inbox_message (consumer, event_id) VALUES ('c', gen_random_uuid())",
                "operator: UPDATE inbox_message SET processed_at = now()",
                "writer: SELECT * FROM inbox_message",
                "writer: INSERT INTO inbox_message (consumer, event_id) VALUES ('c', gen_random_uuid())",
                "relay: DELETE FROM inbox_message",
                "consumer: DELETE FROM inbox_message",
                "consumer: UPDATE inbox_message SET consumer = 'other'",
                "consumer: TRUNCATE inbox_message",
                "consumer: INSERT INTO inbox_message VALUES ('c', gen_random_uuid(), now() - interval '1 year')",
                "consumer: INSERT INTO outbox_event (stream, event_type) VALUES ('s', 'T')",
                "consumer: SELECT id FROM outbox_event",
                "consumer: SELECT id FROM outbox_history",
                "viewer: SELECT payload FROM outbox_event",
                "viewer: SELECT headers FROM outbox_event",
                "viewer: SELECT * FROM outbox_event",
                "editor: UPDATE outbox_event SET event_key = 'other'",
                "editor: UPDATE outbox_event SET event_id = gen_random_uuid()",
                "editor: DELETE FROM outbox_audit",
                "viewer: SELECT payload FROM outbox_history",
                "viewer: SELECT headers FROM outbox_history_overflow",
                "viewer: UPDATE outbox_stream SET paused_at = now()",
                "viewer: DELETE FROM outbox_alert",
                "relay: SELECT * FROM outbox_archive",
                "viewer: SELECT payload FROM outbox_archive",
                "operator: SELECT outbox_history_trim(interval '0', 'outbox_history_overflow', 0, 1, false)",
                "writer: SELECT * FROM outbox_history_old(interval '0')",
                "operator: SELECT outbox_audit_prune(interval '0')",
                "operator: UPDATE outbox_duty SET due_at = now()",
                "writer: SELECT * FROM outbox_alert",
                "viewer: INSERT INTO outbox_audit (who, action, stream, reason) VALUES ('a', 'b', 'c', 'd')"
            })
    void whatARoleDoesNotNeedItMayNot(String roleAndStatement) throws SQLException {
        database.event("s", "k");
        String[] parts = roleAndStatement.split(": ", 2);
        try (Connection connection = users.as(parts[0]).getConnection();
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute(parts[1]))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            e -> assertThat(e.getSQLState()).as(e.getMessage()).isEqualTo("42501"));
        }
    }

    @Test
    void aCallersTemporaryTablesDoNotMisleadWhatRunsWithTheOwnersRights() throws SQLException {
        try (Connection connection = users.as("relay").getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "CREATE TEMP TABLE outbox_history (settled_at timestamptz) PARTITION BY RANGE" + " (settled_at)");
            statement.execute("SET search_path TO pg_temp, public");
            statement.execute("SELECT public.outbox_history_prepare(20)");
        }
        assertThat(database.number("SELECT count(*) FROM pg_inherits WHERE inhparent = 'outbox_history'::regclass"))
                .isEqualTo(21);
    }
}
