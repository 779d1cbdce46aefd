// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/** Every statement by which delivered events are appended again. */
public final class ReplaySql {
    public final String policy;
    public final String count;
    public final String find;
    public final String append;

    public ReplaySql(TableNames tables) {
        policy = with(tables, "SELECT history FROM {stream} WHERE stream = ?");
        count = with(tables, "SELECT count(*), count(*) FILTER (WHERE NOT x.payload_kept) FROM (" + MATCHING + ") x");
        find = with(tables, "SELECT x.part, x.place::text, x.id FROM (" + MATCHING + ") x ORDER BY x.id LIMIT ?");
        append = with(tables, APPEND);
    }

    private static String with(TableNames tables, String template) {
        return template.replace("{event}", tables.event())
                .replace("{history}", tables.history())
                .replace("{overflow}", tables.historyOverflow())
                .replace("{stream}", tables.stream())
                .replace("{audit}", tables.audit());
    }

    /** One pass over the days in question. What was replayed is delivered and in the history again, and is no original. */
    private static final String MATCHING = """
            SELECT h.part, h.place, h.id, h.payload_kept FROM (
                SELECT tableoid::bigint AS part, ctid AS place, id, stream, event_key, event_type, outcome, settled_at,
                       headers, payload_kept FROM {history}
                UNION ALL
                SELECT tableoid::bigint, ctid, id, stream, event_key, event_type, outcome, settled_at, headers, payload_kept
                FROM {overflow}) h
            WHERE h.stream = ? AND h.outcome = 'PUBLISHED' AND (?::text IS NULL OR h.event_key = ?)
              AND (?::text IS NULL OR h.event_type = ?) AND h.settled_at >= ? AND h.settled_at < ? AND h.id > ?
              AND NOT jsonb_exists(h.headers, 'postrider-replay')
            """;

    /**
     * By their places, since no index of the history knows ids. In the order of their old ids, so that the new ones are in
     * that order. The audit's line is the cursor: it is there if, and only if, these were appended.
     */
    private static final String APPEND = """
            WITH given AS (
                SELECT * FROM unnest(?::bigint[], ?::tid[], ?::bigint[]) AS g (part, place, id)
            ),
            asked AS (SELECT ?::boolean AS new_ids, ?::text AS who, ?::text AS stream, ?::text AS why),
            source AS MATERIALIZED (
                SELECT h.id, h.event_id, h.event_key, h.event_type, h.aggregate_type, h.aggregate_id, h.payload,
                       h.content_type, h.headers, h.occurred_at
                FROM (SELECT tableoid::bigint AS part, ctid AS place, * FROM {history} WHERE ctid = ANY (?::tid[])
                      UNION ALL
                      SELECT tableoid::bigint, ctid, * FROM {overflow} WHERE ctid = ANY (?::tid[])) h
                JOIN given g ON g.part = h.part AND g.place = h.place AND g.id = h.id
            ),
            added AS (
                INSERT INTO {event} (event_id, stream, event_key, event_type, aggregate_type, aggregate_id, payload,
                                     content_type, headers, occurred_at)
                SELECT CASE WHEN a.new_ids THEN gen_random_uuid() ELSE s.event_id END, a.stream, s.event_key,
                       s.event_type, s.aggregate_type, s.aggregate_id, s.payload, s.content_type,
                       s.headers || jsonb_build_object('postrider-replay', to_char(
                           clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
                       s.occurred_at
                FROM source s CROSS JOIN asked a ORDER BY s.id
                ON CONFLICT (event_id) DO NOTHING RETURNING event_id
            ),
            audited AS (
                INSERT INTO {audit} (who, action, stream, reason)
                SELECT a.who, 'replay', a.stream, concat(a.why, ' [', (SELECT count(*) FROM added), ' events, up to row ',
                       (SELECT max(id) FROM given), ']') FROM asked a
            )
            SELECT count(*) FROM added
            """;
}
