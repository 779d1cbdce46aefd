// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/**
 * The statements of whoever has found out what became of events whose outcome was unknown, composed once. As those in {@link
 * OperatorSql} they test status and revision, and are audited in the same statement.
 */
public final class UnknownSql {
    public final String find;
    public final String done;
    public final String doneToOverflow;
    public final String retry;
    public final String dead;

    public UnknownSql(TableNames tables) {
        find = with(tables, FIND);
        done = with(tables, DONE).replace("{kept in}", tables.history());
        doneToOverflow = with(tables, DONE).replace("{kept in}", tables.historyOverflow());
        retry = with(tables, RETRY);
        dead = with(tables, DEAD);
    }

    private static String with(TableNames tables, String template) {
        return template.replace("{given}", GIVEN)
                .replace("{event}", tables.event())
                .replace("{stream}", tables.stream())
                .replace("{audit}", tables.audit());
    }

    private static final String FIND = """
            SELECT e.id, e.event_id, e.revision, e.stream, e.event_key, e.event_type, e.aggregate_type, e.aggregate_id,
                   e.holds, e.attempt_count, e.last_error_code, e.last_error_message, e.created_at,
                   coalesce(e.last_attempt_at, e.updated_at)
            FROM {event} e
            WHERE e.status = 'UNKNOWN' AND e.id > ? AND (?::text IS NULL OR e.stream = ?)
              AND (?::uuid IS NULL OR e.event_id = ?)
              AND coalesce(e.last_attempt_at, e.updated_at) <= clock_timestamp() - ?::bigint * interval '1 microsecond'
            ORDER BY e.id LIMIT ?
            """;

    private static final String GIVEN = """
            given AS (SELECT * FROM unnest(?::bigint[], ?::uuid[], ?::integer[]) AS given (id, event_id, revision)),
            locked AS MATERIALIZED (
                SELECT e.id FROM {event} e JOIN given g ON g.id = e.id ORDER BY e.id FOR UPDATE OF e
            )""";

    /** It had its effect: as if it had been settled then. */
    private static final String DONE = """
            WITH {given},
            gone AS (
                DELETE FROM {event} e USING given g, locked l
                WHERE l.id = g.id AND e.id = g.id AND e.event_id = g.event_id AND e.revision = g.revision
                  AND e.status = 'UNKNOWN'
                RETURNING e.*
            ),
            kept AS (
                INSERT INTO {kept in} (id, event_id, stream, event_key, event_type, aggregate_type, aggregate_id,
                    payload, payload_kept, content_type, headers, occurred_at, attempt_count, last_error_code,
                    last_error_message, created_at, outcome, settled_at, settled_by)
                SELECT g.id, g.event_id, g.stream, g.event_key, g.event_type, g.aggregate_type, g.aggregate_id,
                       CASE WHEN st.history = 'NO_PAYLOAD' THEN NULL ELSE g.payload END,
                       st.history IS DISTINCT FROM 'NO_PAYLOAD', g.content_type, g.headers, g.occurred_at, g.attempt_count,
                       g.last_error_code, g.last_error_message, g.created_at, 'PUBLISHED', clock_timestamp(), ?
                FROM gone g LEFT JOIN {stream} st ON st.stream = g.stream
                WHERE st.history IS DISTINCT FROM 'OFF'
            )
            INSERT INTO {audit} (who, action, stream, event_id, reason)
            SELECT ?, 'done', g.stream, g.event_id, ? FROM gone g
            """;

    /** It had none: as it was on the day it was appended, before all later events of its key. */
    private static final String RETRY = """
            WITH {given},
            changed AS (
                UPDATE {event} e
                SET status = 'PENDING', holds = false, revision = e.revision + 1, attempt_count = 0, unclean_count = 0,
                    expires_at = CASE WHEN e.expires_at > clock_timestamp() THEN e.expires_at END,
                    due_at = clock_timestamp(), updated_at = clock_timestamp()
                FROM given g JOIN locked l ON l.id = g.id
                WHERE e.id = g.id AND e.event_id = g.event_id AND e.revision = g.revision AND e.status = 'UNKNOWN'
                RETURNING e.event_id, e.stream
            )
            INSERT INTO {audit} (who, action, stream, event_id, reason)
            SELECT ?, 'retry', c.stream, c.event_id, ? FROM changed c
            """;

    /** What a verdict does that makes an event dead, but for the attempt, which was counted before. */
    private static final String DEAD = """
            WITH {given},
            changed AS (
                UPDATE {event} e
                SET status = 'DEAD', revision = e.revision + 1, last_error_code = ?, last_error_message = ?,
                    holds = e.event_key IS NOT NULL AND 'SKIP' IS DISTINCT FROM
                                (SELECT st.on_dead FROM {stream} st WHERE st.stream = e.stream),
                    due_at = clock_timestamp(), updated_at = clock_timestamp()
                FROM given g JOIN locked l ON l.id = g.id
                WHERE e.id = g.id AND e.event_id = g.event_id AND e.revision = g.revision AND e.status = 'UNKNOWN'
                RETURNING e.event_id, e.stream
            ),
            stopped AS (
                UPDATE {stream} st SET paused_at = clock_timestamp(), paused_by = ?,
                       pause_reason = 'an event is dead, and this stream stops then'
                WHERE st.on_dead = 'STOP_STREAM' AND st.paused_at IS NULL
                  AND st.stream IN (SELECT c.stream FROM changed c)
            )
            INSERT INTO {audit} (who, action, stream, event_id, reason)
            SELECT ?, 'dead', c.stream, c.event_id, ? FROM changed c
            """;
}
