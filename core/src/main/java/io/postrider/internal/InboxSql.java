// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/** Every statement on what consumers have processed, composed once. */
public final class InboxSql {
    public final String once;
    public final String claim;
    public final String pages;
    public final String prune;
    public final String consumers;

    public InboxSql(TableNames tables) {
        once = with(tables, ONCE);
        claim = with(tables, CLAIM);
        pages = with(tables, PAGES);
        prune = with(tables, PRUNE);
        consumers = with(tables, CONSUMERS);
    }

    private static String with(TableNames tables, String template) {
        return template.replace("{inbox}", tables.inbox());
    }

    /**
     * Waits for another transaction that has inserted the same: if that commits, this inserts nothing; if it rolls back, this
     * one inserts. A snapshot of before that commit, of REPEATABLE READ or SERIALIZABLE, fails instead.
     */
    private static final String ONCE = """
            INSERT INTO {inbox} (consumer, event_id) VALUES (?, ?) ON CONFLICT (consumer, event_id) DO NOTHING
            """;

    /** In the order of the ids, so that two who claim some of the same do not wait for each other. */
    private static final String CLAIM = """
            INSERT INTO {inbox} (consumer, event_id)
            SELECT ?, given.id FROM unnest(?::uuid[]) AS given (id) ORDER BY given.id
            ON CONFLICT (consumer, event_id) DO NOTHING
            RETURNING event_id
            """;

    private static final String PAGES = "SELECT pg_relation_size('{inbox}') / current_setting('block_size')::bigint";

    /** By ranges of pages: one pass over the table however much is old, without an index that each INSERT would pay for. */
    private static final String PRUNE = """
            DELETE FROM {inbox}
            WHERE ctid >= ?::tid AND ctid < ?::tid
              AND processed_at < (SELECT clock_timestamp()) - ? * interval '1 second'
            """;

    /**
     * Names by leaps through the primary key. The newest is looked for at the end of the table, and among the highest ids,
     * which are the newest where the library made them.
     */
    private static final String CONSUMERS = """
            WITH RECURSIVE asked AS MATERIALIZED (SELECT ?::bigint AS bound),
            named (consumer) AS (
                (SELECT m.consumer FROM {inbox} m ORDER BY m.consumer LIMIT 1)
                UNION ALL
                SELECT (SELECT m.consumer FROM {inbox} m WHERE m.consumer > n.consumer ORDER BY m.consumer LIMIT 1)
                FROM named n WHERE n.consumer IS NOT NULL
            ),
            last AS MATERIALIZED (
                SELECT m.consumer, max(m.processed_at) AS at FROM {inbox} m
                WHERE m.ctid >= (SELECT ('(' || greatest(0, pg_relation_size('{inbox}')
                                     / current_setting('block_size')::bigint - 64) || ',0)')::tid)
                GROUP BY m.consumer
            )
            SELECT n.consumer, c.rows, greatest(l.at, h.at)
            FROM named n CROSS JOIN asked a
            LEFT JOIN last l ON l.consumer = n.consumer
            CROSS JOIN LATERAL (SELECT count(*) AS rows FROM (
                SELECT FROM {inbox} m WHERE m.consumer = n.consumer LIMIT a.bound) counted) c
            CROSS JOIN LATERAL (SELECT max(x.processed_at) AS at FROM (
                SELECT m.processed_at FROM {inbox} m
                WHERE m.consumer = n.consumer ORDER BY m.event_id DESC LIMIT 20) x) h
            WHERE n.consumer IS NOT NULL ORDER BY n.consumer
            """;
}
