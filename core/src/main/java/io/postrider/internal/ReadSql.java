// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

/**
 * Two forms of the statement that reads what relays send next, which differ in how they find where something is. A third, for the
 * time when next to nothing is there, is {@link GlanceSql}, and a fourth, for a backlog, {@link SweepSql}.
 */
final class ReadSql {
    /** With so many rows from the front on, whatever their state, or more, {@link #OF_FEW} gives nothing and says so. */
    private static final int FEW = 16_384;

    /** What is asked, in the parameters that all forms begin with. */
    static final String ASKED = """
            asked AS MATERIALIZED (
                -- epochs: one for each of the 256 shards, -1 for those not asked for
                SELECT ?::bigint[] AS epochs, ?::integer AS first_shard, ?::text AS relay_group, ?::bigint AS me,
                       ?::boolean AS adopts, ?::text[] AS without, ?::text AS only_stream, ?::bigint[] AS in_flight,
                       -- What was said about one run of a server holds for no other, such as a standby that was promoted.
                       CASE WHEN {server} = ?::bigint THEN ?::bigint END AS front,
                       clock_timestamp() AS now
            ),
            """;

    /** Which of the shards that were asked for are owned, by a relay that is there; of which streams nothing is read. */
    static final String OWNED = """
            mine AS MATERIALIZED (
                SELECT s.shard, (s.shard - a.first_shard) & 255 AS turn
                FROM asked a
                JOIN {shard} s ON s.relay_group = a.relay_group AND s.owner = a.me AND s.epoch = a.epochs[s.shard + 1]
                WHERE NOT current_setting('transaction_read_only')::boolean
                  -- Asked once, not for each shard.
                  AND (SELECT count(*) FROM {relay} r CROSS JOIN asked a
                       WHERE r.id = a.me AND r.lease_until > a.now AND NOT pg_is_in_recovery()) = 1
            ),
            barred AS MATERIALIZED (
                SELECT unnest(a.without) AS stream FROM asked a
                UNION ALL
                SELECT st.stream FROM {stream} st, asked a
                WHERE st.relay_group <> a.relay_group OR st.mode <> 'ORDERED' OR st.paused_at IS NOT NULL
            ),
            """;

    /** What is told about each event c. */
    static final String EVENTS = """
            SELECT c.id, c.event_id, c.revision, c.attempt_count, c.shard, c.unclean_count, c.stream, c.event_key, c.event_type,
                   c.aggregate_type, c.aggregate_id, c.payload, c.content_type, c.headers, c.occurred_at,
                   c.max_attempts, c.keeps_history, c.new_stream,
                   CASE WHEN c.skips THEN (
                       SELECT d.event_id::text FROM {event} d
                       WHERE d.status = 'DEAD' AND d.stream = c.stream AND d.event_key = c.event_key
                         AND (d.stream, d.event_key, d.id) < (c.stream, c.event_key, c.id)
                       ORDER BY d.id LIMIT 1) END AS gap,
                   NULL::smallint[] AS owned, NULL::smallint[] AS holding, NULL::bigint AS due_in_micros,
                   NULL::boolean AS read_only, c.locked_by IS NOT NULL AS lease_ran_out,
                   (extract(epoch FROM c.expires_at - (SELECT now FROM asked)) * 1000000)::bigint AS expires_in_micros,
                   NULL::boolean AS declined, NULL::bigint AS least
            """;

    /**
     * What the owner of these shards may send now, and one last row about the shards themselves. A server that takes no
     * writes, a standby or a primary that was demoted, gives nothing and says so.
     *
     * <p>Always from the beginning: rows that were committed late, requeued or resumed are found at once and in order.
     * What is in flight is left out by its id, what stands behind a held row by its key; both in hashed form, since an
     * anti-join would be sorted before the LIMIT. All filters stand inside the LIMITs: what may not be sent must not fill
     * the window.
     *
     * <p>Each LATERAL part is run once per shard that has such rows and gives the rows of one key one after the other, and
     * the parts follow each other with what may be older first. So the limits of rows and bytes can cut anywhere and leave
     * no gap, and no sort is needed, which would copy every row once more.
     *
     * <p>Ids are compared together with the columns before them in the index that is meant: to a table that was empty when it was
     * last analyzed, any index seems as good as another, and by the primary key each shard would be a walk through all rows.
     */
    private static final String READ = """
            WITH RECURSIVE
            {asked}
            {owned}
            {sets}
            due AS MATERIALIZED (
                SELECT m.shard, m.turn, w.due_at
                FROM waiting w JOIN mine m ON m.shard = w.shard
                ORDER BY m.turn
            ),
            open AS MATERIALIZED (
                SELECT p.stream, p.shard, p.id AS first, st.history IS DISTINCT FROM 'OFF' AS keeps_history,
                       st.stream IS NULL AS new_stream, coalesce(st.on_dead = 'SKIP', false) AS skips
                FROM asked a CROSS JOIN pending p JOIN mine m ON m.shard = p.shard
                LEFT JOIN {stream} st ON st.stream = p.stream
                WHERE p.stream NOT IN (SELECT stream FROM barred)
                  AND (a.only_stream IS NULL OR p.stream = a.only_stream)
                  AND (a.adopts OR st.stream IS NOT NULL)
                ORDER BY m.turn
            ),
            held AS MATERIALIZED (
                SELECT e.* FROM holding h JOIN mine m ON m.shard = h.shard CROSS JOIN LATERAL (
                    SELECT e.shard, e.stream, e.event_key, min(e.id) AS id FROM {event} e
                    WHERE e.holds AND e.event_key IS NOT NULL AND e.shard = h.shard
                    GROUP BY e.shard, e.stream, e.event_key) e
            ),
            candidate AS (
                -- Arrived late, and older than what holds their key.
                SELECT o.keeps_history, o.new_stream, o.skips, e.*
                FROM held h JOIN open o ON o.stream = h.stream AND o.shard = h.shard CROSS JOIN LATERAL (
                    SELECT e.id, e.event_id, e.revision, e.attempt_count, e.shard, e.stream, e.event_key, e.event_type,
                           e.aggregate_type, e.aggregate_id, e.payload, e.content_type, e.headers, e.occurred_at,
                           e.max_attempts, e.locked_by, e.expires_at, e.unclean_count
                    FROM {event} e
                    WHERE e.status = 'PENDING' AND e.stream = h.stream AND e.shard = h.shard
                      AND (e.stream, e.shard, e.id) < (h.stream, h.shard, h.id)
                      AND e.event_key = h.event_key
                      AND e.id NOT IN (SELECT unnest(in_flight) FROM asked)
                    ORDER BY e.id LIMIT ?) e
                UNION ALL
                SELECT e.*
                FROM due d CROSS JOIN LATERAL (
                    SELECT st.history IS DISTINCT FROM 'OFF' AS keeps_history, st.stream IS NULL AS new_stream,
                           coalesce(st.on_dead = 'SKIP', false) AS skips, e.id, e.event_id, e.revision, e.attempt_count, e.shard, e.stream, e.event_key, e.event_type,
                           e.aggregate_type, e.aggregate_id, e.payload, e.content_type, e.headers, e.occurred_at,
                           e.max_attempts, e.locked_by, e.expires_at, e.unclean_count
                    FROM {event} e CROSS JOIN asked a LEFT JOIN {stream} st ON st.stream = e.stream
                    WHERE e.status = 'WAITING' AND e.shard = d.shard AND e.due_at <= (SELECT now FROM asked)
                      AND e.id NOT IN (SELECT unnest(in_flight) FROM asked)
                      AND e.stream NOT IN (SELECT stream FROM barred)
                      AND (a.only_stream IS NULL OR e.stream = a.only_stream)
                      AND (a.adopts OR st.stream IS NOT NULL)
                      AND NOT EXISTS (SELECT FROM held h
                                      WHERE h.stream = e.stream AND h.event_key = e.event_key AND h.id < e.id)
                      -- Delayed, and not yet sent before: it goes when no older row of its shard is left to be read,
                      -- of whatever key, since to look for its own would cost a walk through the backlog.
                      AND (e.holds OR e.event_key IS NULL OR NOT EXISTS (
                          SELECT FROM {event} p
                          WHERE p.status = 'PENDING' AND p.stream = e.stream AND p.shard = e.shard
                            AND (p.stream, p.shard, p.id) < (e.stream, e.shard, e.id)
                            AND p.id NOT IN (SELECT unnest(in_flight) FROM asked)
                            AND (p.stream, coalesce(p.event_key, '')) NOT IN (SELECT stream, event_key FROM held)))
                    ORDER BY e.due_at, e.id LIMIT ?) e
                WHERE d.due_at <= (SELECT now FROM asked)
                UNION ALL
                SELECT o.keeps_history, o.new_stream, o.skips, e.*
                FROM open o CROSS JOIN LATERAL (
                    SELECT e.id, e.event_id, e.revision, e.attempt_count, e.shard, e.stream, e.event_key, e.event_type,
                           e.aggregate_type, e.aggregate_id, e.payload, e.content_type, e.headers, e.occurred_at,
                           e.max_attempts, e.locked_by, e.expires_at, e.unclean_count
                    FROM {event} e CROSS JOIN {many}
                    WHERE e.status = 'PENDING' AND (e.stream, e.shard, e.id) >= (o.stream, o.shard, o.first)
                      AND (e.stream, e.shard) <= (o.stream, o.shard)
                      AND e.id NOT IN (SELECT unnest(in_flight) FROM asked)
                      AND (e.stream, coalesce(e.event_key, '')) NOT IN (SELECT stream, event_key FROM held)
                    ORDER BY e.stream, e.shard, e.id LIMIT ?) e
                LIMIT ?
            ),
            measured AS (
                SELECT c.*, sum(coalesce(octet_length(c.payload), 0)) OVER (ROWS UNBOUNDED PRECEDING)
                            - coalesce(octet_length(c.payload), 0) AS bytes_before
                FROM candidate c
            )
            {events}
            -- Never cut before the first, however large it is.
            FROM measured c WHERE c.bytes_before = 0 OR c.bytes_before < ?
            UNION ALL
            SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                   NULL, NULL,
                   (SELECT array_agg(shard) FROM mine), (SELECT array_agg(DISTINCT shard) FROM held),
                   (SELECT (extract(epoch FROM min(CASE WHEN d.due_at > a.now THEN d.due_at ELSE (
                        SELECT e.due_at FROM {event} e
                        WHERE e.status = 'WAITING' AND e.shard = d.shard AND e.due_at > a.now
                        ORDER BY e.due_at LIMIT 1) END - a.now)) * 1000000)::bigint
                    FROM due d CROSS JOIN asked a),
                   current_setting('transaction_read_only')::boolean, NULL, NULL, {declined}, {least}
            """;

    /**
     * Which shards have rows, found by steps through the indexes, so that neither a backlog nor a read of few rows costs a look
     * at each of the 256 shards.
     */
    private static final String STEPS = """
            -- The first pending row of each stream and shard, by one step in the index for each; of a barred stream only one.
            pending (stream, shard, id) AS (
                (SELECT e.stream, e.shard, e.id FROM {event} e CROSS JOIN {many} WHERE e.status = 'PENDING'
                 ORDER BY e.stream, e.shard, e.id LIMIT 1)
                UNION ALL
                SELECT n.* FROM pending p CROSS JOIN LATERAL (
                    SELECT e.stream, e.shard, e.id FROM {event} e CROSS JOIN {many}
                    WHERE e.status = 'PENDING' AND (e.stream, e.shard) > (p.stream,
                          CASE WHEN p.stream IN (SELECT stream FROM barred) THEN 255::smallint ELSE p.shard END)
                    ORDER BY e.stream, e.shard, e.id LIMIT 1) n
            ),
            {waiting and holding}
            """;

    /**
     * The same of one stream alone, by one step to each shard, past all that was swept and would have to be passed over one by one:
     * where it was swept, nothing is left to be taken.
     */
    private static final String STEPS_BEHIND_SWEEP = """
            pending (stream, shard, id) AS (
                SELECT p.* FROM asked a CROSS JOIN mine m CROSS JOIN LATERAL (
                    SELECT e.stream, e.shard, e.id FROM {event} e CROSS JOIN {many}
                    WHERE e.status = 'PENDING' AND (e.stream, e.shard, e.id) >= (a.only_stream, m.shard, coalesce(a.front, 0))
                      AND (e.stream, e.shard) <= (a.only_stream, m.shard)
                    ORDER BY e.stream, e.shard, e.id LIMIT 1) p
            ),
            {waiting and holding}
            """;

    /** In the same way: when the first waiting row of each shard is due, and which shards have a held key. */
    static final String WAITING_AND_HOLDING = """
            waiting (shard, due_at) AS (
                (SELECT e.shard, e.due_at FROM {event} e CROSS JOIN {many} WHERE e.status = 'WAITING'
                 ORDER BY e.shard, e.due_at LIMIT 1)
                UNION ALL
                SELECT n.* FROM waiting w CROSS JOIN LATERAL (
                    SELECT e.shard, e.due_at FROM {event} e CROSS JOIN {many}
                    WHERE e.status = 'WAITING' AND e.shard > w.shard ORDER BY e.shard, e.due_at LIMIT 1) n
            ),
            holding (shard) AS (
                (SELECT e.shard FROM {event} e CROSS JOIN {many} WHERE e.holds ORDER BY e.shard LIMIT 1)
                UNION ALL
                SELECT n.* FROM holding h CROSS JOIN LATERAL (
                    SELECT e.shard FROM {event} e CROSS JOIN {many} WHERE e.holds AND e.shard > h.shard
                    ORDER BY e.shard LIMIT 1) n
            ),
            """;

    /**
     * The same, from all the rows there are. Each step would pass over the entries of rows that are gone but that an old
     * snapshot keeps, shard by shard and so all over the table; in the order of the ids it passes them page by page, in a
     * tenth of the time.
     */
    private static final String ROWS = """
            few AS MATERIALIZED (
                SELECT e.id, e.stream, e.shard, e.status, e.due_at, e.holds FROM {event} e CROSS JOIN {many} CROSS JOIN {more}
                WHERE e.id >= (SELECT coalesce(nullif(front, 0), -9223372036854775808) FROM asked) ORDER BY e.id LIMIT {few}
            ),
            all_of_them AS MATERIALIZED (
                SELECT f.* FROM few f WHERE (SELECT count(*) FROM few) < {few}
            ),
            pending (stream, shard, id) AS MATERIALIZED (
                SELECT f.stream, f.shard, min(f.id) FROM all_of_them f WHERE f.status = 'PENDING' GROUP BY f.stream, f.shard
            ),
            waiting (shard, due_at) AS MATERIALIZED (
                SELECT f.shard, min(f.due_at) FROM all_of_them f WHERE f.status = 'WAITING' GROUP BY f.shard
            ),
            holding (shard) AS MATERIALIZED (
                SELECT DISTINCT f.shard FROM all_of_them f WHERE f.holds
            ),
            """;

    /**
     * Tells one run of a server from all others: when it began, in microseconds. One that recovers because a session of it
     * crashed says when it was started all the same, but has lost its statistics.
     */
    static final String SERVER = "(extract(epoch FROM greatest(pg_postmaster_start_time(),"
            + " pg_stat_get_bgwriter_stat_reset_time())) * 1000000)::bigint";

    /**
     * One row that the planner takes for a thousand, in a statement that has asked one thing. To a table that was empty when it was last analyzed, it would rather sort all
     * rows than walk through an index to the first, since it expects none.
     */
    static final String MANY = "generate_series(1, (SELECT 1 FROM asked)) AS many";

    /** Once more, where a thousand is less than what would be sorted anyway: the limit. */
    private static final String MORE = MANY.replace("AS many", "AS more");

    static final String BY_STEPS = READ.replace("{asked}", ASKED)
            .replace("{owned}", OWNED)
            .replace("{events}", EVENTS)
            .replace("{sets}", STEPS)
            .replace("{waiting and holding}", WAITING_AND_HOLDING)
            .replace("{many}", MANY)
            .replace("{declined}", "false")
            .replace("{least}", "NULL")
            .replace("{server}", SERVER);
    static final String BEHIND_SWEEP = READ.replace("{asked}", ASKED)
            .replace("{owned}", OWNED)
            .replace("{events}", EVENTS)
            .replace("{sets}", STEPS_BEHIND_SWEEP)
            .replace("{waiting and holding}", WAITING_AND_HOLDING)
            .replace("{many}", MANY)
            .replace("{declined}", "false")
            .replace("{least}", "NULL")
            .replace("{server}", SERVER);
    static final String OF_FEW = READ.replace("{asked}", ASKED)
            .replace("{owned}", OWNED)
            .replace("{events}", EVENTS)
            .replace("{sets}", ROWS)
            .replace("{many}", MANY)
            .replace("{more}", MORE)
            .replace("{declined}", "(SELECT count(*) FROM few) = {few}")
            // None: the greatest there can be. NULL: the front was another server's.
            .replace(
                    "{least}",
                    "(SELECT coalesce((SELECT min(id) FROM few), 9223372036854775807) FROM asked WHERE front IS NOT NULL)")
            .replace("{server}", SERVER)
            .replace("{few}", Integer.toString(FEW));

    /**
     * Who has begun to write to the table and not ended. A transaction has the lock before it draws an id, and keeps it until
     * it can be seen that it has ended. Of those that have drawn one and nothing more, no snapshot knows. And the greatest id that
     * could be seen before that.
     */
    static final String WRITING = """
            WITH asked AS MATERIALIZED (SELECT 1)
            SELECT {server}, coalesce(array_agg(l.virtualtransaction), '{}'),
                   coalesce((SELECT e.id FROM {event} e CROSS JOIN {many} ORDER BY e.id DESC LIMIT 1), 0)
            FROM pg_locks l
            WHERE l.locktype = 'relation' AND l.mode = 'RowExclusiveLock' AND l.relation = '{event}'::regclass
              AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
            """.replace("{server}", SERVER).replace("{many}", MANY);

    private ReadSql() {}
}
