// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/**
 * Every statement of operators, composed once. What a person changes is tested by status and revision,
 * so that nobody acts on a row that has changed since it was looked at, and is audited in the same statement.
 */
public final class OperatorSql {
    public final String findDead;
    public final String namedDead;
    public final String countDead;
    public final String deadGroups;
    public final String attempts;
    public final String audit;
    public final String content;
    public final String requeue;
    public final String edit;
    public final String discard;
    public final String discardToOverflow;
    public final String unhold;
    public final String pause;
    public final String resume;

    public OperatorSql(TableNames tables) {
        findDead = with(tables, FIND_DEAD);
        namedDead = with(tables, NAMED_DEAD);
        countDead = with(tables, COUNT_DEAD);
        deadGroups = with(tables, DEAD_GROUPS);
        attempts = with(tables, ATTEMPTS);
        audit = with(tables, AUDIT);
        content = with(tables, CONTENT);
        requeue = with(tables, REQUEUE);
        edit = with(tables, EDIT);
        discard = with(tables, DISCARD).replace("{kept in}", tables.history());
        discardToOverflow = with(tables, DISCARD).replace("{kept in}", tables.historyOverflow());
        unhold = with(tables, UNHOLD);
        pause = with(tables, PAUSE);
        resume = with(tables, RESUME);
    }

    private static String with(TableNames tables, String template) {
        return template.replace("{as new}", AS_NEW)
                .replace("{event}", tables.event())
                .replace("{attempt}", tables.attempt())
                .replace("{relay}", tables.relay())
                .replace("{shard}", tables.shard())
                .replace("{stream}", tables.stream())
                .replace("{audit}", tables.audit());
    }

    /**
     * Who has it delivered after all does not want it to expire once more, nor to fail because there is another with its
     * dedup key by now.
     */
    private static final String AS_NEW =
            "expires_at = CASE WHEN e.expires_at > clock_timestamp() THEN e.expires_at END, dedup_key = NULL";

    private static final String MATCHES = """
            AND (?::text IS NULL OR e.stream = ?) AND (?::text IS NULL OR e.event_key = ?)
              AND (?::text IS NULL OR e.event_type = ?) AND (?::text IS NULL OR e.last_error_code = ?)
              AND (?::uuid IS NULL OR e.event_id = ?)
            """;

    private static final String DEAD = """
            SELECT e.id, e.event_id, e.revision, e.stream, e.event_key, e.event_type, e.aggregate_type, e.aggregate_id,
                   e.status, e.holds, e.attempt_count, e.last_error_code, e.last_error_message, e.created_at,
                   e.last_attempt_at
            FROM {event} e
            WHERE e.status = 'DEAD'
            """;

    /** The sum with zero keeps the planner from walking all rows by their ids to find the few that are dead. */
    private static final String FIND_DEAD = DEAD + "AND e.id + 0 > ?\n" + MATCHES + "ORDER BY e.id + 0 LIMIT ?";

    private static final String NAMED_DEAD =
            DEAD + "AND e.event_id = ANY (string_to_array(?, ',')::uuid[]) ORDER BY e.id";

    private static final String COUNT_DEAD = """
            SELECT count(*), coalesce(max(d.id), 0) FROM (
                SELECT e.id FROM {event} e WHERE e.status = 'DEAD'
            """ + MATCHES + "LIMIT ?) d";

    private static final String DEAD_GROUPS = """
            SELECT d.stream, d.event_type, d.code, count(*), count(*) FILTER (WHERE d.holds), min(d.at), max(d.at),
                   (array_agg(left(d.last_error_message, 500)))[1]
            FROM (SELECT e.stream, e.event_type, coalesce(e.last_error_code, '') AS code, e.holds,
                         coalesce(e.last_attempt_at, e.created_at) AS at, coalesce(e.last_error_message, '')
                             AS last_error_message
                  FROM {event} e WHERE e.status = 'DEAD' LIMIT ?) d
            GROUP BY d.stream, d.event_type, d.code ORDER BY count(*) DESC, d.stream, d.event_type, d.code LIMIT 500
            """;

    /** By the one index where an event is given, else from the newest on. */
    private static final String AUDIT = """
            SELECT a.id, a.at, a.who, a.action, a.stream, a.event_id, a.reason FROM {audit} a
            WHERE a.id < ? AND (?::uuid IS NULL OR a.event_id = ?) AND (?::text IS NULL OR a.stream = ?)
              AND (?::text IS NULL OR a.who = ?) AND (?::text IS NULL OR a.action = ?)
            ORDER BY a.id DESC LIMIT ?
            """;

    private static final String ATTEMPTS = """
            SELECT attempted_at, relay, error_code, error_message FROM {attempt} WHERE event_id = ? ORDER BY id
            """;

    private static final String CONTENT = """
            SELECT e.payload, e.content_type, e.headers::text FROM {event} e
            WHERE e.id = ? AND e.event_id = ? AND e.revision = ? AND e.status = 'DEAD'
            """;

    /** As it was on the day it was appended, but for its revision: it goes before all later events of its key. */
    private static final String REQUEUE = """
            WITH given AS (SELECT * FROM unnest(?::bigint[], ?::uuid[], ?::integer[]) AS given (id, event_id, revision)),
            locked AS MATERIALIZED (
                SELECT e.id FROM {event} e JOIN given g ON g.id = e.id ORDER BY e.id FOR UPDATE OF e
            ),
            changed AS (
                UPDATE {event} e
                SET status = 'PENDING', holds = false, revision = e.revision + 1, attempt_count = 0,
                    unclean_count = 0,
                    {as new},
                    due_at = clock_timestamp(), updated_at = clock_timestamp()
                FROM given g JOIN locked l ON l.id = g.id
                WHERE e.id = g.id AND e.event_id = g.event_id AND e.revision = g.revision
                  AND e.status = 'DEAD'
                RETURNING e.event_id, e.stream
            )
            INSERT INTO {audit} (who, action, stream, event_id, reason)
            SELECT ?, 'requeue', c.stream, c.event_id, ? FROM changed c
            """;

    /**
     * Requeues with another payload or other headers; what is not given stays. The audit tells both payloads apart by
     * their digests: the old one is gone then, and the table must not hold what an event says.
     */
    private static final String EDIT = """
            WITH given AS (
                SELECT ?::bigint AS id, ?::uuid AS event_id, ?::integer AS revision, ?::boolean AS other_payload,
                       ?::bytea AS payload, ?::text AS content_type, ?::jsonb AS headers
            ),
            before AS MATERIALIZED (
                SELECT e.id, e.payload, e.headers FROM {event} e JOIN given g ON g.id = e.id FOR UPDATE OF e
            ),
            edited AS (
                UPDATE {event} e
                SET payload = CASE WHEN g.other_payload THEN g.payload ELSE e.payload END,
                    content_type = coalesce(g.content_type, e.content_type),
                    headers = coalesce(g.headers, e.headers),
                    status = 'PENDING', holds = false, revision = e.revision + 1, attempt_count = 0, unclean_count = 0,
                    {as new},
                    due_at = clock_timestamp(), updated_at = clock_timestamp()
                FROM given g JOIN before b ON b.id = g.id
                WHERE e.id = g.id AND e.event_id = g.event_id AND e.revision = g.revision
                  AND e.status = 'DEAD'
                RETURNING e.event_id, e.stream, concat(
                    ' [payload sha256 ', coalesce(encode(sha256(b.payload), 'hex'), 'none'),
                    ' -> ', coalesce(encode(sha256(e.payload), 'hex'), 'none'),
                    CASE WHEN b.headers <> e.headers THEN ', other headers' END, ']') AS change
            )
            INSERT INTO {audit} (who, action, stream, event_id, reason)
            SELECT ?, 'edit', c.stream, c.event_id, ? || c.change FROM edited c
            """;

    private static final String DISCARD = """
            WITH given AS (SELECT * FROM unnest(?::bigint[], ?::uuid[], ?::integer[]) AS given (id, event_id, revision)),
            locked AS MATERIALIZED (
                SELECT e.id FROM {event} e JOIN given g ON g.id = e.id ORDER BY e.id FOR UPDATE OF e
            ),
            gone AS (
                DELETE FROM {event} e USING given g, locked l
                WHERE l.id = g.id AND e.id = g.id AND e.event_id = g.event_id AND e.revision = g.revision
                  AND e.status = 'DEAD'
                RETURNING e.*
            ),
            kept AS (
                INSERT INTO {kept in} (id, event_id, stream, event_key, event_type, aggregate_type, aggregate_id,
                    payload, payload_kept, content_type, headers, occurred_at, attempt_count, last_error_code,
                    last_error_message, created_at, outcome, settled_at, settled_by)
                SELECT g.id, g.event_id, g.stream, g.event_key, g.event_type, g.aggregate_type, g.aggregate_id,
                       g.payload, true, g.content_type, g.headers, g.occurred_at, g.attempt_count,
                       g.last_error_code, g.last_error_message, g.created_at, 'DISCARDED', clock_timestamp(), ?
                FROM gone g
            )
            INSERT INTO {audit} (who, action, stream, event_id, reason)
            SELECT ?, 'discard', g.stream, g.event_id, ? FROM gone g
            """;

    private static final String UNHOLD = """
            WITH given AS (SELECT * FROM unnest(?::bigint[], ?::uuid[], ?::integer[]) AS given (id, event_id, revision)),
            locked AS MATERIALIZED (
                SELECT e.id FROM {event} e JOIN given g ON g.id = e.id ORDER BY e.id FOR UPDATE OF e
            ),
            changed AS (
                UPDATE {event} e SET holds = false, revision = e.revision + 1, updated_at = clock_timestamp()
                FROM given g JOIN locked l ON l.id = g.id
                WHERE e.id = g.id AND e.event_id = g.event_id AND e.revision = g.revision
                  AND e.status = 'DEAD' AND e.holds
                RETURNING e.event_id, e.stream
            )
            INSERT INTO {audit} (who, action, stream, event_id, reason)
            SELECT ?, 'unhold', c.stream, c.event_id, ? FROM changed c
            """;

    private static final String PAUSE = """
            WITH changed AS (
                UPDATE {stream} SET paused_at = clock_timestamp(), paused_by = ?, pause_reason = ?
                WHERE stream = ? AND paused_at IS NULL RETURNING stream
            )
            INSERT INTO {audit} (who, action, stream, reason) SELECT ?, 'pause', c.stream, ? FROM changed c
            """;

    private static final String RESUME = """
            WITH changed AS (
                UPDATE {stream} SET paused_at = NULL, paused_by = NULL, pause_reason = NULL
                WHERE stream = ? AND paused_at IS NOT NULL RETURNING stream
            )
            INSERT INTO {audit} (who, action, stream, reason) SELECT ?, 'resume', c.stream, ? FROM changed c
            """;
}
