// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/**
 * The statements of publishing on commit, composed once.
 *
 * <p>An event may be sent by the process that wrote it only if every older undelivered event of its key is ahead of it in
 * that process. So it is inserted with a lease if all of them have one of the same relay, and before it is read to be sent
 * this is tested once more: what is older may have been committed late, or given back to the owner of its shard.
 */
public final class LeaseSql {
    public final String append;
    public final String read;
    public final String extend;
    public final String release;
    public final String releaseAllBut;
    public final String isReadOnly = "SELECT current_setting('transaction_read_only')::boolean";

    public LeaseSql(TableNames tables) {
        append = with(tables, APPEND);
        read = with(tables, READ);
        extend = with(tables, EXTEND);
        release = with(tables, RELEASE) + " AND e.id = ANY (?::bigint[])";
        releaseAllBut = with(tables, RELEASE) + " AND e.id <> ALL (?::bigint[])";
    }

    private static String with(TableNames tables, String template) {
        return template.replace("{oldest pending}", OLDEST_PENDING)
                .replace("{event}", tables.event())
                .replace("{relay}", tables.relay())
                .replace("{stream}", tables.stream());
    }

    /**
     * The oldest pending row that may be of this key. It looks at a hundred rows of the key's shard and takes the first for
     * one of its own if there are more, since to walk through a backlog would cost each append as much.
     */
    private static final String OLDEST_PENDING = """
            (SELECT min(p.id) FROM (
                 SELECT o.id, o.event_key, count(*) OVER () AS looked_at FROM (
                     SELECT e.id, e.event_key FROM {event} e
                     WHERE e.status = 'PENDING' AND e.stream = k.stream AND e.shard = k.shard
                     ORDER BY e.id LIMIT 100) o) p
             WHERE p.event_key = k.event_key OR p.looked_at = 100)""";

    /**
     * With a lease only under READ COMMITTED: a snapshot of before would not show what others have committed since. At most
     * a hundred of a key have one at a time, so that this looks at no more. Without a lease it is an ordinary append. An event that is there already, by its event_id, is not inserted again.
     */
    private static final String APPEND = """
            INSERT INTO {event} (event_id, stream, event_key, event_type, aggregate_type, aggregate_id, payload,
                                 content_type, headers, occurred_at, max_attempts, status, holds, locked_by, due_at)
            SELECT k.event_id, k.stream, k.event_key, k.event_type, k.aggregate_type, k.aggregate_id, k.payload,
                   k.content_type, k.headers, k.occurred_at, k.max_attempts,
                   CASE WHEN k.leased THEN 'WAITING' ELSE 'PENDING' END, k.leased AND k.event_key IS NOT NULL,
                   CASE WHEN k.leased THEN k.me END,
                   clock_timestamp() + CASE WHEN k.leased THEN k.lease ELSE interval '0' END
            FROM (
                SELECT k.*,
                       current_setting('transaction_isolation') = 'read committed'
                       AND EXISTS (
                           SELECT FROM {relay} r LEFT JOIN {stream} st ON st.stream = k.stream
                           WHERE r.id = k.me AND r.lease_until > clock_timestamp() AND st.paused_at IS NULL
                             AND r.relay_group = coalesce(st.relay_group, 'default')
                             AND st.mode IS DISTINCT FROM 'COMPETING')
                       AND (k.event_key IS NULL
                            OR NOT EXISTS (
                                SELECT FROM (
                                    SELECT h.locked_by, h.due_at, count(*) OVER () AS looked_at FROM (
                                        SELECT e.locked_by, e.due_at FROM {event} e
                                        WHERE e.holds AND e.shard = k.shard AND e.stream = k.stream
                                          AND e.event_key = k.event_key
                                        ORDER BY e.id LIMIT 100) h) h
                                WHERE h.locked_by IS DISTINCT FROM k.me OR h.due_at <= clock_timestamp()
                                   OR h.looked_at = 100)
                               AND {oldest pending} IS NULL) AS leased
                FROM (
                    SELECT g.*, (hashtextextended(g.event_key COLLATE "C", 0) & 255)::smallint AS shard
                    FROM (
                        SELECT ?::uuid AS event_id, ?::text AS stream, ?::text AS event_key, ?::text AS event_type,
                               ?::text AS aggregate_type, ?::text AS aggregate_id, ?::bytea AS payload,
                               ?::text AS content_type, ?::jsonb AS headers, ?::timestamptz AS occurred_at,
                               ?::integer AS max_attempts, ?::bigint AS me, ?::bigint * interval '1 microsecond' AS lease
                    ) g
                ) k
                OFFSET 0
            ) k
            ON CONFLICT (event_id) DO NOTHING
            """;

    /**
     * What was handed over, with what is older of the same keys and leased by the same relay: its own hand-over may be on
     * its way. From the first row of a key on that is not this relay's to send, or whose lease ends too soon, nothing of
     * that key may be sent.
     */
    private static final String READ = """
            WITH asked AS MATERIALIZED (
                SELECT r.id AS me, r.relay_group, ?::bigint[] AS in_flight,
                       clock_timestamp() + ?::bigint * interval '1 microsecond' AS ends_not_before
                FROM {relay} r WHERE r.id = ? AND r.lease_until > clock_timestamp() AND NOT pg_is_in_recovery()
            ),
            given AS MATERIALIZED (
                SELECT e.id, e.shard, e.stream, e.event_key
                FROM {event} e JOIN asked a ON e.locked_by = a.me AND e.id <> ALL (a.in_flight)
                WHERE e.event_id = ANY (?::uuid[])
            ),
            front AS MATERIALIZED (
                SELECT k.*, least(
                    (SELECT min(e.id) FROM {event} e
                     WHERE e.holds AND e.shard = k.shard AND e.stream = k.stream AND e.event_key = k.event_key
                       AND (e.locked_by IS DISTINCT FROM a.me OR e.due_at < a.ends_not_before)),
                    {oldest pending}) AS barrier
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
                 AND e.id <= f.last AND e.locked_by = a.me AND e.id <> ALL (a.in_flight)
            )
            SELECT e.id, e.event_id, e.revision, e.attempt_count, e.shard,
                   (extract(epoch FROM e.due_at - clock_timestamp()) * 1000000)::bigint AS micros_left,
                   e.stream, e.event_key, e.event_type, e.aggregate_type, e.aggregate_id, e.payload, e.content_type,
                   e.headers::text, e.occurred_at, e.max_attempts, st.history IS DISTINCT FROM 'OFF' AS keeps_history,
                   st.stream IS NULL AS new_stream,
                   CASE WHEN st.on_dead = 'SKIP' THEN (
                       SELECT d.event_id::text FROM {event} d
                       WHERE d.status = 'DEAD' AND d.stream = e.stream AND d.event_key = e.event_key AND d.id < e.id
                       ORDER BY d.id LIMIT 1) END AS gap,
                   (f.barrier IS NULL OR e.id < f.barrier) AND e.due_at >= a.ends_not_before AND st.paused_at IS NULL
                       AND a.relay_group = coalesce(st.relay_group, 'default') AS sendable
            FROM asked a CROSS JOIN found f JOIN {event} e ON e.id = f.id LEFT JOIN {stream} st ON st.stream = e.stream
            ORDER BY e.id
            """;

    /** While it is not answered, so that nobody else sends it as well; a lease that has run out is not renewed. */
    private static final String EXTEND = """
            UPDATE {event} e SET due_at = clock_timestamp() + ?::bigint * interval '1 microsecond'
            WHERE e.status = 'WAITING' AND e.locked_by = ? AND e.due_at > clock_timestamp() AND e.id = ANY (?::bigint[])
            RETURNING e.id
            """;

    /** What they say is not changed, so neither is their revision: who has sent one meanwhile may still settle it. */
    private static final String RELEASE = """
            UPDATE {event} e
            SET status = 'PENDING', holds = false, locked_by = NULL, due_at = clock_timestamp(),
                updated_at = clock_timestamp()
            WHERE e.status = 'WAITING' AND e.locked_by = ? AND e.due_at > clock_timestamp()""";
}
