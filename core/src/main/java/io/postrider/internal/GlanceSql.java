// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

/**
 * The short form of the read, for an outbox in which some events are pending and nothing else is: no retry, no delay, no held key,
 * no backlog. Then the parts of {@link ReadSql} for all of these would cost more than what is read.
 * Wherever it is not so, or a shard has another owner, it gives nothing and says so.
 */
final class GlanceSql {
    /** With so many pending rows, whoever they belong to, it gives nothing. */
    private static final int MANY = 128;

    /**
     * No more rows than may be taken of one stream and shard: so none has to be chosen, and the order of shards does not matter.
     * Whether the rows' shards are owned is asked; of all others the relay's lease says it, since nobody takes a shard from a
     * relay that has one.
     */
    static final String GLANCE = """
            WITH
            {asked}
            oldest AS MATERIALIZED (
                SELECT e.id, e.event_id, e.revision, e.attempt_count, e.shard, e.stream, e.event_key, e.event_type,
                       e.aggregate_type, e.aggregate_id, e.payload, e.content_type, e.headers, e.occurred_at,
                       e.max_attempts, e.locked_by, e.expires_at, e.unclean_count
                FROM {event} e CROSS JOIN {one of many}
                WHERE e.status = 'PENDING' ORDER BY e.stream, e.shard, e.id LIMIT {many}
            ),
            candidate AS MATERIALIZED (
                SELECT s.epoch, st.history IS DISTINCT FROM 'OFF' AS keeps_history, st.stream IS NULL AS new_stream,
                       coalesce(st.on_dead = 'SKIP', false) AS skips, e.*
                FROM asked a CROSS JOIN oldest e
                LEFT JOIN {shard} s ON s.relay_group = a.relay_group AND s.shard = e.shard
                    AND s.owner = a.me AND s.epoch = a.epochs[e.shard + 1]
                LEFT JOIN {stream} st ON st.stream = e.stream
                WHERE a.epochs[e.shard + 1] >= 0
                  AND e.id <> ALL (a.in_flight)
                  AND e.stream <> ALL (a.without)
                  AND (a.only_stream IS NULL OR e.stream = a.only_stream)
                  AND CASE WHEN st.stream IS NULL THEN a.adopts
                           ELSE st.relay_group = a.relay_group AND st.mode = 'ORDERED' AND st.paused_at IS NULL END
            ),
            plain AS MATERIALIZED (
                -- Asked in this order; what is dear where there are many comes last.
                SELECT (SELECT count(*) FROM oldest) < {many}
                   AND count(*) <= ? AND coalesce(sum(octet_length(c.payload)), 0) < ? AND count(*) = count(c.epoch)
                   AND (SELECT count(*) FROM {relay} r JOIN asked a ON r.id = a.me AND r.lease_until > a.now) = 1
                   AND (SELECT e.shard FROM {event} e CROSS JOIN {one of many} WHERE e.status = 'WAITING'
                        ORDER BY e.shard, e.due_at LIMIT 1) IS NULL
                   AND (SELECT e.shard FROM {event} e CROSS JOIN {one of many} WHERE e.holds
                        ORDER BY e.shard LIMIT 1) IS NULL AS it
                FROM candidate c
            )
            {events}
            FROM candidate c WHERE (SELECT it FROM plain)
            UNION ALL
            SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                   NULL, NULL, NULL, NULL, NULL,
                   current_setting('transaction_read_only')::boolean, NULL, NULL, NOT (SELECT it FROM plain), NULL
            """.replace("{asked}", ReadSql.ASKED)
            .replace("{events}", ReadSql.EVENTS)
            .replace("{server}", ReadSql.SERVER)
            .replace("{one of many}", ReadSql.MANY)
            .replace("{many}", Integer.toString(MANY));

    private GlanceSql() {}
}
