// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

/**
 * The form of the read for a backlog: the oldest rows of one stream in the order of their ids, so page by page. By shard, as in
 * {@link ReadSql}, each row of a backlog is on another page, and there is another step to make for each shard.
 *
 * <p>The oldest rows of the table are the oldest of every key in them, so it may be cut off anywhere. But it gives no
 * shard or stream its turn, and is never known to be all there is.
 */
final class SweepSql {
    /** More are looked at in no case. The planner, who does not see the limits, would reckon with a tenth of all rows. */
    private static final int MOST = 100_000;

    /**
     * Where a key of these shards is held, or a retry or a delayed event of them is due, it gives nothing and says so; also
     * where the stream is not to be read.
     *
     * <p>A payload that has more bytes than is its share is left out: the row says that what may be taken ends before it. To sum
     * them up instead would copy every row once more.
     *
     * <p>Shards are compared by a place in an array, since a join may not keep the order of the ids. What is the same for all
     * rows is asked once. The limits are asked for, so that the planner does not see them, and needs no new plan for others.
     */
    static final String SWEEP = """
            WITH RECURSIVE
            {asked}
            limits AS MATERIALIZED (
                SELECT ?::bigint AS rows, ?::bigint AS looked_at, ?::bigint AS share, ?::bigint AS begins_at
            ),
            {owned}
            {waiting and holding}
            shards AS MATERIALIZED (
                SELECT array_agg(m.shard IS NOT NULL ORDER BY n.shard) AS are_mine
                FROM generate_series(0, 255) AS n (shard) LEFT JOIN mine m ON m.shard = n.shard
            ),
            swept AS MATERIALIZED (
                SELECT a.only_stream AS stream, st.history IS DISTINCT FROM 'OFF' AS keeps_history,
                       CASE WHEN st.stream IS NULL THEN true END AS new_stream, coalesce(st.on_dead = 'SKIP', false) AS skips,
                       a.only_stream NOT IN (SELECT stream FROM barred) AND (a.adopts OR st.stream IS NOT NULL) AS is_served
                FROM asked a LEFT JOIN {stream} st ON st.stream = a.only_stream
            ),
            plain AS MATERIALIZED (
                SELECT (SELECT is_served FROM swept)
                   -- Where it begins was said of this run of the server; what is under way before that is not named.
                   AND (SELECT begins_at = 0 FROM limits) IS NOT DISTINCT FROM (SELECT coalesce(front, 0) = 0 FROM asked)
                   AND NOT EXISTS (SELECT FROM holding h JOIN mine m ON m.shard = h.shard)
                   AND NOT EXISTS (SELECT FROM waiting w JOIN mine m ON m.shard = w.shard CROSS JOIN asked a
                                   WHERE w.due_at <= a.now) AS it
            ),
            candidate AS (
                -- Null where it is zero: what is null costs nothing to be sent.
                SELECT o.id, o.event_id, nullif(o.revision, 0) AS revision, nullif(o.attempt_count, 0) AS attempt_count,
                       o.shard, o.stream, o.event_key, o.event_type, o.aggregate_type, o.aggregate_id,
                       o.content_type, o.headers, o.occurred_at, o.max_attempts, o.expires_at,
                       nullif(o.unclean_count, 0) AS unclean_count,
                       CASE WHEN octet_length(o.payload) <= (SELECT share FROM limits) THEN o.payload END AS payload,
                       CASE WHEN octet_length(o.payload) > (SELECT share FROM limits) THEN true END AS is_too_large,
                       (SELECT keeps_history FROM swept), (SELECT new_stream FROM swept), (SELECT skips FROM swept)
                FROM (SELECT p.* FROM (
                    SELECT e.id, e.event_id, e.revision, e.attempt_count, e.shard, e.stream, e.event_key, e.event_type,
                           e.aggregate_type, e.aggregate_id, e.payload, e.content_type, e.headers, e.occurred_at,
                           e.max_attempts, e.expires_at, e.unclean_count, e.status
                    FROM {event} e CROSS JOIN {many}
                    WHERE (SELECT it FROM plain) AND e.id >= (SELECT coalesce(nullif(front, 0), -9223372036854775808) FROM asked)
                    ORDER BY e.id LIMIT (SELECT looked_at FROM limits)) p
                    ORDER BY p.id LIMIT {most}) o
                WHERE o.status = 'PENDING'
                  AND (SELECT are_mine FROM shards)[o.shard + 1]
                  AND o.id NOT IN (SELECT unnest(in_flight) FROM asked)
                  AND o.stream = (SELECT stream FROM swept)
                ORDER BY o.id LIMIT (SELECT rows FROM limits)
            )
            {events}
            FROM candidate c
            UNION ALL
            SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                   NULL, NULL, (SELECT array_agg(shard) FROM mine), NULL,
                   (SELECT (extract(epoch FROM min(w.due_at) - a.now) * 1000000)::bigint
                    FROM waiting w JOIN mine m ON m.shard = w.shard CROSS JOIN asked a WHERE w.due_at > a.now GROUP BY a.now),
                   current_setting('transaction_read_only')::boolean, NULL, NULL, NOT (SELECT it FROM plain), NULL
            """.replace("{asked}", ReadSql.ASKED)
            .replace("{owned}", ReadSql.OWNED)
            .replace("{waiting and holding}", ReadSql.WAITING_AND_HOLDING)
            .replace(
                    "{events}",
                    ReadSql.EVENTS
                            .replace("NULL::boolean AS declined", "c.is_too_large")
                            // Who asked knows it.
                            .replace("c.unclean_count, c.stream,", "c.unclean_count, NULL::text AS stream,")
                            // Only what is waiting has been leased.
                            .replace("c.locked_by IS NOT NULL AS", "NULL::boolean AS"))
            .replace("{server}", ReadSql.SERVER)
            .replace("{many}", ReadSql.MANY)
            .replace("{most}", Integer.toString(MOST));

    private SweepSql() {}
}
