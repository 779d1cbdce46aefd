// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/**
 * The statements of publishing on commit, composed once.
 *
 * <p>An event may be sent by the process that wrote it only if every older undelivered event of its key is ahead of it in
 * that process. So it is inserted with a lease, whatever is there, and tested when it is read to be sent: what is behind
 * something that is not leased by the same relay is given back to the owner of its shard.
 */
public final class LeaseSql {
    public final String append;
    public final String appendWithTerms;
    public final String read;
    public final String extend;
    public final String unknown;
    public final String release;
    public final String releaseAllBut;
    public final String isReadOnly = "SELECT current_setting('transaction_read_only')::boolean";

    public LeaseSql(TableNames tables) {
        append = AppendTerms.none(with(tables, APPEND));
        appendWithTerms = AppendTerms.given(with(tables, APPEND));
        read = with(tables, READ);
        extend = with(tables, EXTEND);
        unknown = with(tables, UNKNOWN);
        release = with(tables, RELEASE) + " AND e.id = ANY (?::bigint[])";
        releaseAllBut = with(tables, RELEASE) + " AND e.id <> ALL (?::bigint[])";
    }

    private static String with(TableNames tables, String template) {
        return template.replace("{event}", tables.event())
                .replace("{attempt}", tables.attempt())
                .replace("{relay}", tables.relay())
                .replace("{stream}", tables.stream());
    }

    /**
     * An ordinary append with the columns of the lease, for events with and without one. Whether it may be used is decided when
     * it is read: to look at what is older here would cost as much as the rest of the INSERT, at each event. An event that is
     * there already, by its event_id, is not inserted again.
     */
    private static final String APPEND = """
            INSERT INTO {event} (event_id, stream, event_key, event_type, aggregate_type, aggregate_id,
                                 payload, content_type, headers, occurred_at, max_attempts, due_at, status, holds, locked_by{terms})
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?, ?,
                    coalesce(?::timestamptz, clock_timestamp() + ?::bigint * interval '1 microsecond'), ?, ?, ?{values of terms})
            ON CONFLICT (event_id) DO NOTHING
            """;

    /**
     * What was handed over, with what is older of the same keys and leased by the same relay: its own hand-over may be on
     * its way. From the first row of a key on that is not this relay's to send, or whose lease ends too soon, nothing of
     * that key may be sent. The oldest pending row that may be of a key is looked for among a hundred of its shard, and the
     * first of them is taken for one if there are more, since to walk through a backlog would cost each commit as much.
     * What has expired is left to the owner of its shard as well, who says that it is dead.
     */
    private static final String READ = """
            WITH in_flight AS MATERIALIZED (
                SELECT unnest(?::bigint[]) AS id
            ),
            asked AS MATERIALIZED (
                SELECT r.id AS me, r.relay_group,
                       clock_timestamp() + ?::bigint * interval '1 microsecond' AS ends_not_before, clock_timestamp() AS now
                FROM {relay} r WHERE r.id = ? AND r.lease_until > clock_timestamp() AND NOT pg_is_in_recovery()
            ),
            given AS MATERIALIZED (
                SELECT e.id, e.shard, e.stream, e.event_key
                FROM {event} e JOIN asked a ON e.locked_by = a.me
                WHERE e.event_id = ANY (?::uuid[]) AND e.id NOT IN (SELECT id FROM in_flight)
            ),
            front AS MATERIALIZED (
                SELECT k.*, least(
                    (SELECT min(e.id) FROM {event} e
                     WHERE e.holds AND e.shard = k.shard AND e.stream = k.stream AND e.event_key = k.event_key
                       AND (e.shard, e.stream, e.event_key, e.id) <= (k.shard, k.stream, k.event_key, k.last) AND (e.expires_at <= a.now
                           OR e.locked_by IS DISTINCT FROM a.me OR e.due_at < a.ends_not_before)),
                    (SELECT min(p.id) FROM (
                         SELECT o.id, o.event_key, count(*) OVER () AS looked_at FROM (
                             SELECT e.id, e.event_key FROM {event} e
                             WHERE e.status = 'PENDING' AND e.stream = k.stream AND e.shard = k.shard
                               AND (e.stream, e.shard, e.id) <= (k.stream, k.shard, k.last)
                             ORDER BY e.id LIMIT 100) o) p
                     WHERE p.event_key = k.event_key OR p.looked_at = 100)) AS barrier
                FROM asked a CROSS JOIN (
                    SELECT shard, stream, event_key, max(id) AS last FROM given WHERE event_key IS NOT NULL
                    GROUP BY shard, stream, event_key) k
            ),
            found AS MATERIALIZED (
                SELECT g.id, NULL::bigint AS barrier FROM given g WHERE g.event_key IS NULL
                UNION ALL
                SELECT e.id, f.barrier
                FROM asked a CROSS JOIN front f
                JOIN {event} e ON e.holds AND e.shard = f.shard AND e.stream = f.stream AND e.event_key = f.event_key
                 AND (e.shard, e.stream, e.event_key, e.id) <= (f.shard, f.stream, f.event_key, f.last) AND e.locked_by = a.me
                WHERE e.id NOT IN (SELECT id FROM in_flight)
            )
            SELECT e.id, e.event_id, e.revision, e.attempt_count, e.shard,
                   (extract(epoch FROM e.due_at - clock_timestamp()) * 1000000)::bigint AS micros_left,
                   e.stream, e.event_key, e.event_type, e.aggregate_type, e.aggregate_id, e.payload, e.content_type,
                   e.headers::text, e.occurred_at, e.max_attempts, st.history IS DISTINCT FROM 'OFF' AS keeps_history,
                   st.stream IS NULL AS new_stream,
                   CASE WHEN st.on_dead = 'SKIP' THEN (
                       SELECT d.event_id::text FROM {event} d
                       WHERE d.status = 'DEAD' AND d.stream = e.stream AND d.event_key = e.event_key
                         AND (d.stream, d.event_key, d.id) < (e.stream, e.event_key, e.id)
                       ORDER BY d.id LIMIT 1) END AS gap,
                   (f.barrier IS NULL OR e.id < f.barrier) AND e.due_at >= a.ends_not_before
                       AND (e.expires_at IS NULL OR e.expires_at > a.now) AS sendable,
                   st.paused_at IS NOT NULL OR a.relay_group <> coalesce(st.relay_group, 'default')
                       OR coalesce(st.mode = 'COMPETING', false) AS barred_stream,
                   (extract(epoch FROM e.expires_at - a.now) * 1000000)::bigint AS expires_in_micros
            FROM asked a CROSS JOIN found f JOIN {event} e ON e.id = f.id LEFT JOIN {stream} st ON st.stream = e.stream
            ORDER BY e.id
            """;

    /** While it is not answered, so that nobody else sends it as well; a lease that has run out is not renewed. */
    private static final String EXTEND = """
            UPDATE {event} e SET due_at = clock_timestamp() + ?::bigint * interval '1 microsecond'
            WHERE e.status = 'WAITING' AND e.locked_by = ? AND e.due_at > clock_timestamp() AND e.id = ANY (?::bigint[])
            RETURNING e.id
            """;

    /**
     * The one verdict that a lessee writes itself: what was given back would be sent once more. As in all verdicts the
     * attempt is counted, and the key is held.
     */
    private static final String UNKNOWN = """
            WITH given AS (
                SELECT * FROM unnest(?::bigint[], ?::uuid[], ?::integer[], ?::text[], ?::text[])
                    AS given (id, event_id, revision, code, message)
            ),
            locked AS MATERIALIZED (
                SELECT e.id FROM {event} e JOIN given g ON g.id = e.id ORDER BY e.id FOR UPDATE OF e
            ),
            changed AS (
                UPDATE {event} e
                SET status = 'UNKNOWN', holds = e.event_key IS NOT NULL, revision = e.revision + 1,
                    due_at = clock_timestamp(), locked_by = NULL, attempt_count = e.attempt_count + 1,
                    last_attempt_at = clock_timestamp(), last_error_code = g.code, last_error_message = g.message,
                    updated_at = clock_timestamp()
                FROM given g JOIN locked l ON l.id = g.id
                WHERE e.id = g.id AND e.event_id = g.event_id AND e.revision = g.revision
                  AND e.locked_by = ? AND e.due_at > clock_timestamp()
                RETURNING e.id, e.event_id, g.code, g.message
            ),
            remembered AS (
                INSERT INTO {attempt} (event_row, event_id, attempted_at, relay, error_code, error_message)
                SELECT c.id, c.event_id, clock_timestamp(), ?, c.code, c.message FROM changed c
            )
            SELECT c.id FROM changed c
            """;

    /** What they say is not changed, so neither is their revision: who has sent one meanwhile may still settle it. */
    private static final String RELEASE = """
            UPDATE {event} e
            SET status = 'PENDING', holds = false, locked_by = NULL, due_at = clock_timestamp(),
                updated_at = clock_timestamp()
            WHERE e.status = 'WAITING' AND e.locked_by = ? AND e.due_at > clock_timestamp()""";
}
