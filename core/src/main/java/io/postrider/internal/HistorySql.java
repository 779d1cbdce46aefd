// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/**
 * Every statement by which people look at the history. A partition is only ever written at its end, so its rows stand
 * about in the order of their times: pages of rows are found by their places, and times by halving, without an index that
 * each settle would pay for.
 */
public final class HistorySql {
    public final String today;
    public final String tail;
    public final String days;
    public final String pageOfTime;
    public final String chunk;
    public final String byEventId;
    public final String content;
    public final String recent;

    public HistorySql(TableNames tables) {
        today = with(tables, TODAY);
        tail = with(tables, TAIL);
        days = with(tables, DAYS);
        pageOfTime = with(tables, PAGE_OF_TIME);
        chunk = with(tables, CHUNK);
        byEventId = with(tables, BY_EVENT_ID);
        content = with(tables, CONTENT);
        recent = with(tables, RECENT);
    }

    private static String with(TableNames tables, String template) {
        return template.replace("{entry}", ENTRY)
                .replace("{history}", tables.history())
                .replace("{overflow}", tables.historyOverflow());
    }

    private static final String ENTRY = """
            h.event_id, h.stream, h.event_key, h.event_type, h.outcome, h.settled_at, h.settled_by,
                   extract(epoch FROM h.settled_at - h.created_at), h.aggregate_type, h.aggregate_id, h.content_type,
                   h.attempt_count, h.last_error_code, h.last_error_message, h.created_at""";

    /** The day, and how many pages its partition has; none if it is missing. */
    private static final String TODAY = """
            SELECT d.day::text, coalesce(pg_relation_size(to_regclass('{history}_' || to_char(d.day, 'YYYYMMDD')))
                                         / current_setting('block_size')::integer, 0)
            FROM (SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date AS day) d
            """;

    /** By place, which needs no index; the times leave one partition. */
    private static final String TAIL = """
            SELECT {entry}, h.ctid::text
            FROM {history} h
            WHERE h.settled_at >= ? AND h.settled_at < ? AND h.ctid >= ?::tid ORDER BY h.ctid LIMIT 5000
            """;

    /** The days of which there is something, newest first, and how many pages. */
    private static final String DAYS = """
            SELECT to_date(right(c.relname, 8), 'YYYYMMDD')::text,
                   pg_relation_size(c.oid) / current_setting('block_size')::integer
            FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = '{history}'::regclass AND c.relname ~ '^outbox_history_[0-9]{8}$'
              AND pg_relation_size(c.oid) > 0
            ORDER BY c.relname DESC
            """;

    /**
     * The page of one day at which this time was reached, by halving. Subqueries in the list of results, since a join could
     * not go to a place.
     */
    private static final String PAGE_OF_TIME = """
            WITH RECURSIVE asked AS MATERIALIZED (
                SELECT ?::timestamptz AS from_time, ?::timestamptz AS to_time, ?::timestamptz AS wanted, ?::bigint AS pages
            ),
            halved (low, high, middle, found) AS (
                SELECT 0::bigint, a.pages, -1::bigint, NULL::timestamptz FROM asked a
                UNION ALL
                SELECT CASE WHEN n.found < a.wanted THEN n.middle + 1 ELSE n.low END,
                       CASE WHEN n.found < a.wanted THEN n.high ELSE n.middle END, n.middle, n.found
                FROM asked a CROSS JOIN (
                    SELECT p.low, p.high, p.middle,
                           (SELECT h.settled_at FROM {history} h
                            WHERE h.settled_at >= (SELECT from_time FROM asked)
                              AND h.settled_at < (SELECT to_time FROM asked)
                              AND h.ctid >= ('(' || p.middle || ',0)')::tid
                              AND h.ctid < ('(' || p.middle + 1 || ',0)')::tid LIMIT 1) AS found
                    FROM (SELECT low, high, (low + high) / 2 AS middle FROM halved WHERE low < high) p) n
            )
            SELECT low FROM halved WHERE low >= high
            """;

    /** Rows of one day between two places, the last first, that match. */
    private static final String CHUNK = """
            SELECT {entry}, h.ctid::text
            FROM {history} h
            WHERE h.settled_at >= ? AND h.settled_at < ? AND h.ctid >= ?::tid AND h.ctid < ?::tid
              AND (?::text IS NULL OR h.stream = ?) AND (?::text IS NULL OR h.event_type = ?)
              AND (?::text IS NULL OR h.event_key = ?) AND (?::text IS NULL OR h.aggregate_type = ?)
              AND (?::text IS NULL OR h.aggregate_id = ?) AND (?::text IS NULL OR h.last_error_code = ?)
              AND (?::text IS NULL OR h.outcome = ?)
            ORDER BY h.ctid DESC LIMIT ?
            """;

    private static final String BY_EVENT_ID = """
            SELECT * FROM (
                SELECT {entry}, h.ctid::text FROM {history} h WHERE h.event_id = ?
                UNION ALL
                SELECT {entry}, h.ctid::text FROM {overflow} h WHERE h.event_id = ?
            ) found ORDER BY 6 DESC LIMIT 20
            """;

    private static final String CONTENT = """
            SELECT h.payload, h.payload_kept, h.content_type, h.headers::text
            FROM (SELECT * FROM {history} WHERE event_id = ? AND settled_at = ?
                  UNION ALL SELECT * FROM {overflow} WHERE event_id = ? AND settled_at = ?) h LIMIT 1
            """;

    /**
     * How long those took that were published last, of each stream and of all (the row without a stream); only the last
     * pages of one partition are read. The seconds over which they were published tell how many there are per second.
     */
    private static final String RECENT = """
            WITH last AS MATERIALIZED (
                SELECT h.stream, h.settled_at, extract(epoch FROM h.settled_at - h.created_at) AS took
                FROM {history} h
                WHERE h.settled_at >= ? AND h.settled_at < ? AND h.ctid >= ?::tid AND h.outcome = 'PUBLISHED'
            ),
            recent AS (
                SELECT l.stream, l.settled_at, l.took FROM last l
                WHERE l.settled_at > clock_timestamp() - ? * interval '1 second'
            ),
            span AS (
                SELECT least(?, extract(epoch FROM clock_timestamp() - min(settled_at))) AS seconds FROM last
            )
            SELECT r.stream, count(*), (SELECT seconds FROM span),
                   percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY greatest(r.took, 0)::double precision)
            FROM recent r GROUP BY GROUPING SETS ((r.stream), ())
            HAVING count(*) > 0
            """;
}
