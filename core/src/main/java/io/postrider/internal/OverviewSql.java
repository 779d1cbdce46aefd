// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/**
 * Every statement by which people look at what is there. They look while something is wrong, so none of them may cost more
 * the more is stuck: all go through partial indexes and stop at a bound.
 */
public final class OverviewSql {
    public final String backlog;
    public final String relays;
    public final String heldKeys;
    public final String undelivered;
    public final String undeliveredOfStream;
    public final String undeliveredOfKey;
    public final String undeliveredById;
    private final String undeliveredSearch;
    private final String undeliveredRange;
    private final String undeliveredStateRange;
    public final String undeliveredContent;
    public final String shards;
    public final String streams;

    public OverviewSql(TableNames tables) {
        backlog = with(tables, BACKLOG);
        relays = with(tables, RELAYS);
        heldKeys = with(tables, HELD_KEYS);
        undelivered = with(tables, UNDELIVERED_PAGE);
        undeliveredOfStream = with(tables, UNDELIVERED.replace("{of key}", ""));
        undeliveredOfKey = with(tables, UNDELIVERED.replace("{of key}", "AND e.event_key = a.event_key"));
        undeliveredById = with(tables, UNDELIVERED_BY_ID);
        undeliveredSearch = with(tables, UNDELIVERED_SEARCH);
        undeliveredRange = with(tables, UNDELIVERED_RANGE);
        undeliveredStateRange = with(tables, UNDELIVERED_STATE_RANGE);
        undeliveredContent = with(tables, UNDELIVERED_CONTENT);
        shards = with(tables, SHARDS);
        streams = with(tables, STREAMS);
    }

    private static String with(TableNames tables, String template) {
        return template.replace("{event}", tables.event())
                .replace("{relay}", tables.relay())
                .replace("{shard}", tables.shard())
                .replace("{stream}", tables.stream());
    }

    /**
     * What is pending and dead is counted per stream by its index, up to the bound. Waiting and holding rows are found by
     * shard, so up to the bound of them all are read, and then told apart. The oldest pending row of a stream is the
     * smallest of the first ones of its 256 shards: a walk by id would pass all older rows of other streams.
     */
    private static final String BACKLOG = """
            WITH RECURSIVE
            asked AS MATERIALIZED (SELECT ?::bigint AS bound, clock_timestamp() AS now),
            present (stream) AS (
                (SELECT e.stream FROM {event} e WHERE e.status = 'PENDING' ORDER BY e.stream LIMIT 1)
                UNION ALL
                SELECT (SELECT e.stream FROM {event} e
                        WHERE e.status = 'PENDING' AND e.stream > p.stream ORDER BY e.stream LIMIT 1)
                FROM present p WHERE p.stream IS NOT NULL
            ),
            buried (stream) AS (
                (SELECT e.stream FROM {event} e WHERE e.status IN ('DEAD', 'UNKNOWN') ORDER BY e.stream LIMIT 1)
                UNION ALL
                SELECT (SELECT e.stream FROM {event} e
                        WHERE e.status IN ('DEAD', 'UNKNOWN') AND e.stream > b.stream ORDER BY e.stream LIMIT 1)
                FROM buried b WHERE b.stream IS NOT NULL
            ),
            waiting AS MATERIALIZED (
                SELECT e.stream, e.attempt_count, e.locked_by, e.due_at, e.created_at
                FROM {event} e WHERE e.status = 'WAITING' LIMIT (SELECT bound FROM asked)
            ),
            waits AS (
                SELECT w.stream, count(*) FILTER (WHERE w.locked_by IS NOT NULL AND w.due_at > a.now) AS leased,
                       count(*) FILTER (WHERE w.attempt_count > 0 AND NOT (w.locked_by IS NOT NULL AND w.due_at > a.now))
                           AS retrying,
                       count(*) FILTER (WHERE w.attempt_count = 0 AND w.locked_by IS NULL AND w.due_at > a.now) AS delayed,
                       -- Relays take these as they are, so they stay here until one does.
                       count(*) FILTER (WHERE w.attempt_count = 0 AND w.due_at <= a.now) AS due,
                       -- What was to come later is late only from then on.
                       min(CASE WHEN w.attempt_count > 0 OR w.locked_by IS NOT NULL THEN w.created_at
                                WHEN w.due_at <= a.now THEN w.due_at END) AS oldest
                FROM waiting w CROSS JOIN asked a GROUP BY w.stream
            ),
            holds AS (
                SELECT h.stream, count(DISTINCT h.event_key) AS keys
                FROM (SELECT e.stream, e.event_key FROM {event} e
                      WHERE e.holds AND (e.locked_by IS NULL OR e.due_at <= (SELECT now FROM asked))
                      LIMIT (SELECT bound FROM asked)) h
                GROUP BY h.stream
            ),
            named AS (
                SELECT stream FROM present WHERE stream IS NOT NULL UNION SELECT stream FROM buried WHERE stream IS NOT NULL
                UNION SELECT stream FROM waits UNION SELECT stream FROM holds UNION SELECT stream FROM {stream}
            )
            SELECT n.stream, st.relay_group, least(p.rows + coalesce(w.due, 0), a.bound), coalesce(w.retrying, 0), coalesce(w.delayed, 0),
                   coalesce(w.leased, 0), coalesce(h.keys, 0), d.rows, u.rows,
                   extract(epoch FROM a.now - least(o.created_at, w.oldest)), st.paused_at, st.paused_by, st.pause_reason,
                   coalesce(st.mode = 'COMPETING', false)
            FROM named n CROSS JOIN asked a
            LEFT JOIN {stream} st ON st.stream = n.stream
            LEFT JOIN waits w ON w.stream = n.stream
            LEFT JOIN holds h ON h.stream = n.stream
            CROSS JOIN LATERAL (
                SELECT count(*) AS rows FROM (
                    SELECT FROM {event} e WHERE e.status = 'PENDING' AND e.stream = n.stream LIMIT a.bound) counted) p
            CROSS JOIN LATERAL (
                SELECT count(*) AS rows FROM (
                    SELECT FROM {event} e
                    WHERE e.status = 'DEAD' AND e.stream = n.stream LIMIT a.bound) counted) d
            CROSS JOIN LATERAL (
                SELECT count(*) AS rows FROM (
                    SELECT FROM {event} e
                    WHERE e.status = 'UNKNOWN' AND e.stream = n.stream LIMIT a.bound) counted) u
            LEFT JOIN LATERAL (
                SELECT e.created_at FROM {event} e
                WHERE p.rows > 0 AND e.id = (
                    SELECT min(first.id) FROM generate_series(0, 255) AS s (shard) CROSS JOIN LATERAL (
                        SELECT f.id FROM {event} f
                        WHERE f.status = 'PENDING' AND f.stream = n.stream AND f.shard = s.shard
                        ORDER BY f.id LIMIT 1) first)) o ON true
            ORDER BY n.stream
            """;

    private static final String RELAYS = """
            SELECT r.id, r.name, r.relay_group, r.wants, (SELECT count(*) FROM {shard} s WHERE s.owner = r.id),
                   r.in_flight, r.published, r.closed, r.started_at, r.lease_until > a.now,
                   extract(epoch FROM a.now - (r.lease_until - r.ttl_ms * interval '1 millisecond')), r.ttl_ms, r.streams,
                   r.version
            FROM {relay} r CROSS JOIN (SELECT clock_timestamp() AS now) a
            ORDER BY r.relay_group, r.name, r.id
            """;

    /**
     * By which event a key is held: the first that holds it. A live lease holds its key too, but for a moment. Those behind
     * are searched among the pending rows of the same stream and shard, since no index knows keys, and no further than the
     * bound.
     */
    private static final String HELD_KEYS = """
            WITH asked AS MATERIALIZED (
                SELECT ?::text AS stream, ?::text AS event_key, ?::integer AS keys, ?::integer AS bound,
                       clock_timestamp() AS now
            ),
            held AS MATERIALIZED (
                SELECT DISTINCT ON (e.shard, e.stream, e.event_key) e.shard, e.stream, e.event_key, e.id, e.event_id,
                       e.event_type, e.status, e.attempt_count, e.last_error_code, e.last_error_message, e.due_at,
                       coalesce(e.last_attempt_at, e.created_at) AS since
                FROM {event} e CROSS JOIN asked a
                WHERE e.holds AND (e.locked_by IS NULL OR e.due_at <= a.now)
                  AND (a.stream IS NULL OR e.stream = a.stream) AND (a.event_key IS NULL OR e.event_key = a.event_key)
                ORDER BY e.shard, e.stream, e.event_key, e.id LIMIT (SELECT keys FROM asked)
            )
            SELECT h.stream, h.event_key, h.id, h.event_id, h.event_type, h.status, h.attempt_count, h.last_error_code,
                   h.last_error_message, h.since, h.due_at, b.waiting, b.searched >= a.bound
            FROM held h CROSS JOIN asked a CROSS JOIN LATERAL (
                SELECT count(*) FILTER (WHERE x.event_key = h.event_key) AS waiting, count(*) AS searched
                FROM (SELECT e.event_key FROM {event} e
                      WHERE e.status = 'PENDING' AND (e.stream, e.shard, e.id) > (h.stream, h.shard, h.id)
                        AND (e.stream, e.shard) <= (h.stream, h.shard)
                      ORDER BY e.stream, e.shard, e.id LIMIT a.bound) x) b
            ORDER BY h.since, h.id
            """;

    private static final String STATE = """
            SELECT e.id, e.event_id, e.stream, e.event_key, e.event_type,
                   CASE WHEN e.status IN ('DEAD', 'UNKNOWN') THEN e.status
                        WHEN e.locked_by IS NOT NULL AND e.due_at > clock_timestamp() THEN 'LEASED'
                        WHEN e.status = 'WAITING' AND e.attempt_count > 0 THEN 'RETRYING'
                        WHEN e.status = 'WAITING' THEN 'DELAYED' ELSE 'PENDING' END AS state,
                   e.holds, e.due_at, e.attempt_count, e.last_error_code, e.last_error_message, e.created_at,
                   e.revision, e.aggregate_type, e.aggregate_id, e.content_type, e.max_attempts, e.last_attempt_at,
                   e.expires_at, e.dedup_key
            FROM {event} e
            """;

    /**
     * From each partial index the first of the page, so that none is walked to its end for a stream that is rare. Where no
     * key is asked for, none is mentioned: then the index alone answers, without a look at 256 pages' worth of rows. The
     * sums with zero keep the planner from walking all rows by their ids instead; the LIMITs are values of their own,
     * since of one that it does not know it expects a tenth of all rows.
     */
    private static final String UNDELIVERED = """
            WITH RECURSIVE
            asked AS MATERIALIZED (SELECT ?::text AS stream, ?::text AS event_key, ?::bigint AS after_id),
            present (stream) AS (
                (SELECT e.stream FROM {event} e WHERE e.status = 'PENDING' ORDER BY e.stream LIMIT 1)
                UNION ALL
                SELECT (SELECT e.stream FROM {event} e
                        WHERE e.status = 'PENDING' AND e.stream > p.stream ORDER BY e.stream LIMIT 1)
                FROM present p WHERE p.stream IS NOT NULL
            ),
            chosen AS MATERIALIZED (
                SELECT x.id FROM asked a CROSS JOIN present p CROSS JOIN generate_series(0, 255) AS s (shard)
                CROSS JOIN LATERAL (
                    SELECT e.id FROM {event} e
                    WHERE e.status = 'PENDING' AND e.stream = p.stream AND e.shard = s.shard AND e.id > a.after_id
                      {of key}
                    ORDER BY e.id LIMIT ?) x
                WHERE (a.stream IS NULL OR p.stream = a.stream)
                  AND (a.event_key IS NULL OR s.shard = (hashtextextended(a.event_key COLLATE "C", 0) & 255))
                UNION ALL
                (SELECT e.id FROM {event} e CROSS JOIN asked a
                 WHERE e.status = 'WAITING' AND e.id + 0 > a.after_id AND (a.stream IS NULL OR e.stream = a.stream)
                   AND (a.event_key IS NULL OR e.event_key = a.event_key)
                 ORDER BY e.id + 0 LIMIT ?)
                UNION ALL
                (SELECT e.id FROM {event} e CROSS JOIN asked a
                 WHERE e.status IN ('DEAD', 'UNKNOWN') AND e.id + 0 > a.after_id
                   AND (a.stream IS NULL OR e.stream = a.stream) AND (a.event_key IS NULL OR e.event_key = a.event_key)
                 ORDER BY e.id + 0 LIMIT ?)
            )
            """ + STATE + """
            WHERE e.id = ANY (ARRAY(SELECT id FROM chosen ORDER BY id LIMIT ?)) ORDER BY e.id
            """;

    private static final String UNDELIVERED_PAGE = STATE + "WHERE e.id > ? ORDER BY e.id LIMIT ?";

    private static final String UNDELIVERED_BY_ID = STATE + "WHERE e.event_id = ?";

    /**
     * How far one search goes: so many rows on. Where only dead or waiting ones are asked for, theirs are counted, through
     * their own indexes: the sums with zero keep the planner from walking all rows by their ids.
     */
    private static final String UNDELIVERED_RANGE = """
            SELECT max(r.id), count(*) FROM (
                SELECT e.id FROM {event} e WHERE e.id > ? ORDER BY e.id LIMIT ?) r
            """;

    private static final String UNDELIVERED_STATE_RANGE = """
            SELECT max(r.id), count(*) FROM (
                SELECT e.id + 0 AS id FROM {event} e WHERE {status} AND e.id + 0 > ? ORDER BY e.id + 0 LIMIT ?) r
            """;

    private static final String UNDELIVERED_SEARCH = "SELECT * FROM (" + STATE + """
            WHERE {range}
              AND (?::text IS NULL OR e.stream = ?) AND (?::text IS NULL OR e.event_type = ?)
              AND (?::text IS NULL OR e.event_key = ?) AND (?::text IS NULL OR e.aggregate_type = ?)
              AND (?::text IS NULL OR e.aggregate_id = ?) AND (?::text IS NULL OR e.last_error_code = ?)
              AND (?::timestamptz IS NULL OR e.created_at >= ?) AND (?::timestamptz IS NULL OR e.created_at < ?)
            ) found WHERE (?::text IS NULL OR found.state = ?) ORDER BY found.id LIMIT ?
            """;

    private static final String UNDELIVERED_CONTENT = """
            SELECT e.payload, true, e.content_type, e.headers::text FROM {event} e WHERE e.id = ? AND e.event_id = ?
            """;

    private static final String SHARDS = """
            SELECT s.relay_group, s.shard, r.id, r.name, s.epoch, s.unclean
            FROM {shard} s LEFT JOIN {relay} r ON r.id = s.owner ORDER BY s.relay_group, s.shard
            """;

    private static final String STREAMS = """
            SELECT stream, relay_group, mode, on_dead, history, created_at, paused_at, paused_by, pause_reason FROM {stream} ORDER BY stream
            """;

    /** The rows in which events of this state are found, if it has an index of its own. */
    public enum Among {
        ALL(""),
        WAITING("e.status = 'WAITING'"),
        DEAD("e.status IN ('DEAD', 'UNKNOWN')");

        private final String status;

        Among(String status) {
            this.status = status;
        }
    }

    /** How far a search of these goes. */
    public String range(Among of) {
        return of == Among.ALL ? undeliveredRange : undeliveredStateRange.replace("{status}", of.status);
    }

    /** A search within that range, which is given first. */
    public String search(Among of) {
        String range = of == Among.ALL ? "e.id > ? AND e.id <= ?" : of.status + " AND e.id + 0 > ? AND e.id + 0 <= ?";
        return undeliveredSearch.replace("{range}", range);
    }
}
