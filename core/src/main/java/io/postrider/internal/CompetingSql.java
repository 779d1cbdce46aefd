// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/**
 * The statements of competing delivery, composed once. Each is a transaction of its own.
 *
 * <p>Who claims a row has it until its lease ends, under the revision that the claim gave it. All that is written about it
 * later names that revision; whoever claims it next raises it. What only the lessee may write also tests that the row is
 * leased by it, that the lease has not run out, and that it still has its place among the relays.
 */
public final class CompetingSql {
    public final String claim;
    public final String verdict;
    public final String extend;
    public final String release;
    public final String releaseAllBut;
    public final String tick;

    public CompetingSql(TableNames tables) {
        claim = with(tables, CLAIM);
        verdict = with(tables, VERDICT);
        extend = with(tables, EXTEND);
        release = with(tables, RELEASE);
        releaseAllBut = with(tables, RELEASE_ALL_BUT);
        tick = with(tables, TICK);
    }

    private static String with(TableNames tables, String template) {
        return template.replace("{many}", ReadSql.MANY)
                .replace("{ends}", "e.unclean_count + CASE WHEN e.locked_by IS NULL THEN 0 ELSE 1 END")
                .replace("{event}", tables.event())
                .replace("{attempt}", tables.attempt())
                .replace("{relay}", tables.relay())
                .replace("{stream}", tables.stream());
    }

    /**
     * Leases what may be sent now, and shows when the next will be. What has become due goes first, by its time, then what
     * is pending, span by span of the shards, and so many of each. They begin elsewhere each time: so the many who claim at
     * once do not all look at the same rows, and each shard has its turn.
     *
     * <p>The rows are locked in CTEs, each of which is run once: in a subselect of the UPDATE a LIMIT can be run again and
     * again. A row that another has claimed since the snapshot fails the test of its status or time when it is locked. All
     * filters stand inside the LIMITs. A lease that had run out was somebody's end, and is counted.
     *
     * <p>What was under way at so many ends that it is a suspect goes only where it is asked for: those with so many ends, and so
     * many of them. What has too many is always claimed, since it is not sent.
     */
    private static final String CLAIM = """
            WITH asked AS MATERIALIZED (
                SELECT r.id AS me, clock_timestamp() AS now FROM {relay} r
                WHERE r.id = ? AND r.lease_until > clock_timestamp() AND NOT pg_is_in_recovery()
                  AND NOT current_setting('transaction_read_only')::boolean
            ),
            open AS MATERIALIZED (
                SELECT g.stream, g.room, st.history <> 'OFF' AS keeps_history
                FROM asked CROSS JOIN unnest(?::text[], ?::integer[]) AS g (stream, room)
                JOIN {stream} st ON st.stream = g.stream
                WHERE st.mode = 'COMPETING' AND st.relay_group = ? AND st.paused_at IS NULL
            ),
            due AS MATERIALIZED (
                SELECT e.id, e.bytes, o.stream, e.due_at, e.ends
                FROM open o CROSS JOIN LATERAL (
                    SELECT e.id, coalesce(octet_length(e.payload), 0) AS bytes, e.due_at, {ends} AS ends
                    FROM {event} e CROSS JOIN {many}
                    WHERE e.status = 'WAITING' AND e.stream = o.stream AND e.due_at <= (SELECT now FROM asked)
                      AND e.id <> ALL (?::bigint[])
                      AND ({ends} IN (0, ?) OR {ends} >= ?)
                    ORDER BY e.due_at LIMIT o.room FOR UPDATE OF e SKIP LOCKED) e
                LIMIT ?
            ),
            admitted AS MATERIALIZED (
                SELECT d.id, d.bytes, d.stream
                FROM (SELECT due.*, row_number() OVER (PARTITION BY due.ends ORDER BY due.due_at) AS place FROM due) d
                WHERE d.ends = 0 OR d.ends >= ? OR d.place <= ?
                ORDER BY d.due_at
            ),
            fresh AS MATERIALIZED (
                SELECT e.id, e.bytes
                FROM open o
                CROSS JOIN LATERAL (SELECT o.room - count(*) AS rows FROM admitted d WHERE d.stream = o.stream) room
                CROSS JOIN LATERAL (
                    SELECT e.id, e.bytes
                    FROM unnest(?::smallint[], ?::smallint[]) AS span (first, last) CROSS JOIN LATERAL (
                        SELECT e.id, coalesce(octet_length(e.payload), 0) AS bytes FROM {event} e CROSS JOIN {many}
                        WHERE e.status = 'PENDING' AND e.stream = o.stream AND e.shard BETWEEN span.first AND span.last
                        ORDER BY e.shard, e.id LIMIT ? FOR UPDATE OF e SKIP LOCKED) e
                    LIMIT room.rows) e
                LIMIT ? - (SELECT count(*) FROM admitted)
            ),
            measured AS MATERIALIZED (
                SELECT f.id, sum(f.bytes) OVER (ROWS UNBOUNDED PRECEDING) - f.bytes AS bytes_before
                FROM (SELECT id, bytes FROM admitted UNION ALL SELECT id, bytes FROM fresh) f
            ),
            claimed AS (
                UPDATE {event} e
                SET status = 'WAITING', holds = false, locked_by = (SELECT me FROM asked), revision = e.revision + 1,
                    due_at = clock_timestamp() + ?::bigint * interval '1 microsecond',
                    unclean_count = {ends},
                    updated_at = clock_timestamp()
                -- Never cut before the first, however large it is.
                WHERE e.id = ANY (ARRAY(
                    SELECT m.id FROM measured m WHERE m.bytes_before = 0 OR m.bytes_before < ?))
                RETURNING e.*
            )
            SELECT c.id, c.event_id, c.revision, c.attempt_count, c.shard, c.unclean_count, c.stream, c.event_key,
                   c.event_type, c.aggregate_type, c.aggregate_id, c.payload, c.content_type, c.headers::text,
                   c.occurred_at, c.max_attempts, o.keeps_history, NULL::boolean AS new_stream, NULL::text AS gap,
                   NULL::bigint AS due_in_micros, NULL::boolean AS read_only,
                   (extract(epoch FROM c.expires_at - (SELECT now FROM asked)) * 1000000)::bigint AS expires_in_micros
            FROM claimed c JOIN open o ON o.stream = c.stream
            UNION ALL
            SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                   NULL, NULL,
                   (SELECT (extract(epoch FROM min(w.due_at) - (SELECT now FROM asked)) * 1000000)::bigint
                    FROM open o CROSS JOIN LATERAL (
                        SELECT e.due_at FROM {event} e
                        WHERE e.status = 'WAITING' AND e.stream = o.stream AND e.due_at > (SELECT now FROM asked)
                        ORDER BY e.due_at LIMIT 1) w
                    -- Whoever got as much as it asked for asks again at once.
                    WHERE (SELECT count(*) FROM measured) < ?),
                   current_setting('transaction_read_only')::boolean, NULL
            """;

    /**
     * Only the lessee may say what becomes of a failed event. Its place is locked, though not against its own renewals: who
     * declares it dead waits, or is seen. A dead event holds nobody. What has expired was not tried: no attempt is counted,
     * and its stream does not stop. What has failed and is to be tried again has ended nobody.
     */
    private static final String VERDICT = """
            WITH given AS (
                SELECT * FROM unnest(?::bigint[], ?::uuid[], ?::integer[], ?::text[], ?::bigint[], ?::text[], ?::text[],
                                     ?::boolean[])
                    AS given (id, event_id, revision, status, delay_micros, code, message, expired)
            ),
            fence AS MATERIALIZED (SELECT r.id FROM {relay} r WHERE r.id = ? FOR KEY SHARE),
            locked AS MATERIALIZED (
                SELECT e.id FROM {event} e JOIN given g ON g.id = e.id
                WHERE EXISTS (SELECT FROM fence)
                ORDER BY e.id FOR UPDATE OF e
            ),
            changed AS (
                UPDATE {event} e
                SET status = g.status, holds = false, locked_by = NULL, revision = e.revision + 1,
                    due_at = clock_timestamp() + g.delay_micros * interval '1 microsecond',
                    attempt_count = e.attempt_count + CASE WHEN g.expired THEN 0 ELSE 1 END,
                    unclean_count = CASE WHEN g.status = 'WAITING' THEN 0 ELSE e.unclean_count END,
                    last_attempt_at = CASE WHEN g.expired THEN e.last_attempt_at ELSE clock_timestamp() END,
                    last_error_code = g.code, last_error_message = g.message, updated_at = clock_timestamp()
                FROM given g JOIN locked l ON l.id = g.id CROSS JOIN fence f
                WHERE e.id = g.id AND e.event_id = g.event_id AND e.revision = g.revision
                  AND e.status = 'WAITING' AND e.locked_by = f.id AND e.due_at > clock_timestamp()
                RETURNING e.id, e.event_id, e.stream, e.status, g.code, g.message, g.expired
            ),
            remembered AS (
                INSERT INTO {attempt} (event_row, event_id, attempted_at, relay, error_code, error_message)
                SELECT c.id, c.event_id, clock_timestamp(), ?, c.code, c.message FROM changed c WHERE NOT c.expired
            ),
            stopped AS (
                UPDATE {stream} st SET paused_at = clock_timestamp(), paused_by = 'postrider',
                       pause_reason = 'an event is dead, and this stream stops then'
                WHERE st.on_dead = 'STOP_STREAM' AND st.paused_at IS NULL
                  AND st.stream IN (SELECT c.stream FROM changed c WHERE c.status = 'DEAD' AND NOT c.expired)
            )
            SELECT c.id FROM changed c
            """;

    /** While it is not answered, so that nobody else sends it as well; a lease that has run out is not renewed. */
    private static final String EXTEND = """
            WITH given AS (SELECT * FROM unnest(?::bigint[], ?::integer[]) AS given (id, revision)),
            fence AS MATERIALIZED (SELECT r.id FROM {relay} r WHERE r.id = ? FOR KEY SHARE),
            locked AS MATERIALIZED (
                SELECT e.id FROM {event} e JOIN given g ON g.id = e.id
                WHERE EXISTS (SELECT FROM fence)
                ORDER BY e.id FOR UPDATE OF e
            )
            UPDATE {event} e SET due_at = clock_timestamp() + ?::bigint * interval '1 microsecond'
            FROM given g JOIN locked l ON l.id = g.id CROSS JOIN fence f
            WHERE e.id = g.id AND e.revision = g.revision
              AND e.status = 'WAITING' AND e.locked_by = f.id AND e.due_at > clock_timestamp()
            RETURNING e.id
            """;

    /**
     * What it says is not changed, so neither is its revision: who has sent it meanwhile may still settle it. A suspect stays
     * where suspects are looked for. Also after its lease, as long as nobody has claimed it: it ended nobody, and would count as if
     * it had, as after an outage of the database.
     */
    private static final String RELEASE = """
            WITH given AS (SELECT * FROM unnest(?::bigint[], ?::integer[]) AS given (id, revision)),
            fence AS MATERIALIZED (SELECT r.id FROM {relay} r WHERE r.id = ? FOR KEY SHARE),
            locked AS MATERIALIZED (
                SELECT e.id FROM {event} e JOIN given g ON g.id = e.id
                WHERE EXISTS (SELECT FROM fence)
                ORDER BY e.id FOR UPDATE OF e
            )
            UPDATE {event} e
            SET status = CASE WHEN e.unclean_count > 0 THEN 'WAITING' ELSE 'PENDING' END, locked_by = NULL,
                due_at = clock_timestamp(), updated_at = clock_timestamp()
            FROM given g JOIN locked l ON l.id = g.id CROSS JOIN fence f
            WHERE e.id = g.id AND e.revision = g.revision
              AND e.status = 'WAITING' AND e.locked_by = f.id
            """;

    /** What was leased by a claim whose answer was lost: its lessee does not know of it and will never send it. */
    private static final String RELEASE_ALL_BUT = """
            WITH locked AS MATERIALIZED (
                SELECT e.id FROM {event} e
                WHERE e.status = 'WAITING' AND e.stream = ANY (?::text[]) AND e.locked_by = ?
                  AND e.due_at > clock_timestamp() AND e.id <> ALL (?::bigint[])
                ORDER BY e.id FOR UPDATE
            )
            UPDATE {event} e
            SET status = CASE WHEN e.unclean_count > 0 THEN 'WAITING' ELSE 'PENDING' END, locked_by = NULL,
                due_at = clock_timestamp(), updated_at = clock_timestamp()
            FROM locked l WHERE e.id = l.id
            """;

    /**
     * Renews a relay's place, never makes one, and shows the relays of its group and in how long something of these streams
     * is due. Not what is leased is asked for but what is waiting, which is more: a lease that runs out is due then.
     */
    private static final String TICK = """
            WITH me AS (
                UPDATE {relay} SET lease_until = clock_timestamp() + ttl_ms * interval '1 millisecond', beat = beat + 1,
                       wants = ?, in_flight = ?, published = ?, closed = ?, streams = ?
                WHERE id = ? AND NOT pg_is_in_recovery() RETURNING id
            )
            SELECT 'ME' AS kind, me.id AS relay, NULL::bigint AS number, NULL::text AS wants, false AS past,
                   NULL::integer AS ttl_ms, NULL::text AS stream
            FROM me
            UNION ALL
            SELECT 'RELAY', r.id, r.beat, r.wants, r.lease_until < clock_timestamp(), r.ttl_ms, NULL
            FROM {relay} r WHERE r.relay_group = ?
            UNION ALL
            SELECT 'STREAM', NULL,
                   CASE WHEN EXISTS (SELECT FROM {event} e WHERE e.status = 'PENDING' AND e.stream = st.stream) THEN 0
                        ELSE (SELECT greatest(0, extract(epoch FROM e.due_at - clock_timestamp()) * 1000000)::bigint
                              FROM {event} e WHERE e.status = 'WAITING' AND e.stream = st.stream
                              ORDER BY e.due_at LIMIT 1) END,
                   NULL, false, NULL, st.stream
            FROM {stream} st WHERE st.stream = ANY (?::text[]) AND st.paused_at IS NULL
            """;
}
