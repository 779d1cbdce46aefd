// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

/**
 * The form of the read for a backlog: the oldest rows in the order of their ids, so page by page. By shard, as in
 * {@link ReadSql}, each row of a backlog is on another page, and there is another step to make for each shard.
 *
 * <p>The oldest rows of the table are the oldest of every key in them, so it may be cut off anywhere. But it gives no
 * shard or stream its turn, and is never known to be all there is.
 */
final class SweepSql {
    /** So many times what may be taken is looked at: what is others' or under way, barred, delayed or dead counts too. */
    private static final int WIDE = 8;

    /** More in no case. The planner, who does not see how many may be taken, would reckon with a tenth of all rows. */
    private static final int MOST = 100_000;

    /**
     * Where a key of these shards is held, or a retry or a delayed event of them is due, it gives nothing and says so.
     *
     * <p>Shards are compared by a place in an array, since a join may not keep the order of the ids. The limits are asked
     * for, so that the planner does not see them, and needs no new plan for others.
     */
    static final String SWEEP = """
            WITH RECURSIVE
            {asked}
            limits AS MATERIALIZED (
                SELECT ?::integer AS rows, ?::bigint AS bytes
            ),
            {owned}
            {waiting and holding}
            epochs AS MATERIALIZED (
                SELECT array_agg(coalesce(m.epoch, -1) ORDER BY n.shard) AS of
                FROM generate_series(0, 255) AS n (shard) LEFT JOIN mine m ON m.shard = n.shard
            ),
            plain AS MATERIALIZED (
                SELECT NOT EXISTS (SELECT FROM holding h JOIN mine m ON m.shard = h.shard)
                   AND NOT EXISTS (SELECT FROM waiting w JOIN mine m ON m.shard = w.shard CROSS JOIN asked a
                                   WHERE w.due_at <= a.now) AS it
            ),
            oldest AS (
                SELECT o.* FROM (SELECT p.* FROM (
                    SELECT e.id, e.event_id, e.revision, e.attempt_count, e.shard, e.stream, e.event_key, e.event_type,
                           e.aggregate_type, e.aggregate_id, e.payload, e.content_type, e.headers, e.occurred_at,
                           e.max_attempts, e.locked_by, e.expires_at, e.unclean_count, e.status
                    FROM {event} e CROSS JOIN {many}
                    WHERE (SELECT it FROM plain) ORDER BY e.id LIMIT (SELECT rows FROM limits) * {wide}::bigint) p
                    ORDER BY p.id LIMIT {most}) o
                WHERE o.status = 'PENDING'
                  AND (SELECT of FROM epochs)[o.shard + 1] >= 0
                  AND o.id NOT IN (SELECT unnest(in_flight) FROM asked)
                  AND o.stream NOT IN (SELECT stream FROM barred)
                  AND ((SELECT adopts FROM asked) OR o.stream IN (SELECT st.stream FROM {stream} st))
                ORDER BY o.id LIMIT (SELECT rows FROM limits)
            ),
            measured AS (
                SELECT o.*, sum(coalesce(octet_length(o.payload), 0)) OVER (ORDER BY o.id ROWS UNBOUNDED PRECEDING)
                            - coalesce(octet_length(o.payload), 0) AS bytes_before
                FROM oldest o
            ),
            candidate AS (
                SELECT m.*, (SELECT of FROM epochs)[m.shard + 1] AS epoch, st.history IS DISTINCT FROM 'OFF' AS keeps_history,
                       st.stream IS NULL AS new_stream, coalesce(st.on_dead = 'SKIP', false) AS skips
                FROM measured m LEFT JOIN {stream} st ON st.stream = m.stream
                -- Never cut before the first, however large it is.
                WHERE m.bytes_before = 0 OR m.bytes_before < (SELECT bytes FROM limits)
            )
            {events}
            FROM candidate c
            UNION ALL
            SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                   NULL, NULL, (SELECT array_agg(shard) FROM mine), NULL,
                   (SELECT (extract(epoch FROM min(w.due_at) - a.now) * 1000000)::bigint
                    FROM waiting w JOIN mine m ON m.shard = w.shard CROSS JOIN asked a WHERE w.due_at > a.now GROUP BY a.now),
                   current_setting('transaction_read_only')::boolean, NULL, NULL, NOT (SELECT it FROM plain), NULL, NULL
            """.replace("{asked}", ReadSql.ASKED)
            .replace("{owned}", ReadSql.OWNED)
            .replace("{waiting and holding}", ReadSql.WAITING_AND_HOLDING)
            .replace("{events}", ReadSql.EVENTS)
            .replace("{server}", ReadSql.SERVER)
            .replace("{many}", ReadSql.MANY)
            .replace("{wide}", Integer.toString(WIDE))
            .replace("{most}", Integer.toString(MOST));

    private SweepSql() {}
}
