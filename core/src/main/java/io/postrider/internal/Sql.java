// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/**
 * Every statement of the outbox and the relays' loops, composed once; those about relays and shards are in {@link ShardSql},
 * those of operators in {@link OperatorSql}.
 *
 * <p>Time is {@code clock_timestamp()}: {@code now()} stands still within a transaction. Each statement is a transaction
 * of its own.
 */
public final class Sql {
    public final ShardSql shards;
    public final String append;
    public final String appendWithTerms;
    public final String read;
    public final String readFew;
    public final String readBehindSweep;
    public final String glance;
    public final String sweep;
    public final String writing;
    public final String freeLeases;
    public final String settle;
    public final String settleWithHistory;
    public final String settleWithOverflow;
    public final String unsettled;
    public final String verdict;
    public final String register;
    public final String declare;
    public final String streamsOfGroup;
    public final String mark;
    public final String calm;

    public Sql(TableNames tables) {
        shards = new ShardSql(tables);
        append = AppendTerms.none(with(tables, APPEND));
        appendWithTerms = AppendTerms.given(with(tables, APPEND));
        read = with(tables, ReadSql.BY_STEPS);
        readBehindSweep = with(tables, ReadSql.BEHIND_SWEEP);
        readFew = with(tables, ReadSql.OF_FEW);
        glance = with(tables, GlanceSql.GLANCE);
        sweep = with(tables, SweepSql.SWEEP);
        writing = with(tables, ReadSql.WRITING);
        freeLeases = with(tables, FREE_LEASES);
        settle = with(tables, SETTLE);
        settleWithHistory = with(tables, SETTLE_WITH_HISTORY).replace("{kept in}", tables.history());
        settleWithOverflow = with(tables, SETTLE_WITH_HISTORY).replace("{kept in}", tables.historyOverflow());
        unsettled = with(tables, UNSETTLED);
        verdict = with(tables, VERDICT);
        register = with(tables, REGISTER);
        declare = with(tables, DECLARE);
        streamsOfGroup = with(tables, STREAMS_OF_GROUP);
        mark = with(tables, MARK);
        calm = with(tables, CALM);
    }

    private static String with(TableNames tables, String template) {
        return template.replace("{event}", tables.event())
                .replace("{attempt}", tables.attempt())
                .replace("{relay}", tables.relay())
                .replace("{shard}", tables.shard())
                .replace("{stream}", tables.stream())
                .replace("{audit}", tables.audit());
    }

    /** An event that is there already, by its event_id, is not inserted again. */
    private static final String APPEND = """
            INSERT INTO {event} (event_id, stream, event_key, event_type, aggregate_type, aggregate_id,
                                 payload, content_type, headers, occurred_at, max_attempts, due_at{terms})
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?, ?,
                    coalesce(?::timestamptz, clock_timestamp() + ?::bigint * interval '1 microsecond'){values of terms})
            ON CONFLICT (event_id) DO NOTHING
            """;

    /**
     * Makes ordinary events of those whose lease has run out: a row that is only due holds those behind it, and they would go
     * one at a time. Anybody may do that, and it changes nothing that an event says, so the revision stays. What somebody has
     * locked is left for another time: he may be settling it, or be gone with his transaction still open, and a read would wait.
     */
    private static final String FREE_LEASES = """
            WITH locked AS MATERIALIZED (
                SELECT e.id FROM {event} e
                WHERE e.status = 'WAITING' AND e.locked_by IS NOT NULL AND e.due_at <= clock_timestamp()
                  AND e.shard = ANY (?::smallint[])
                  AND e.stream NOT IN (SELECT st.stream FROM {stream} st WHERE st.mode = 'COMPETING')
                ORDER BY e.id FOR UPDATE SKIP LOCKED
            )
            UPDATE {event} e SET status = 'PENDING', holds = false, locked_by = NULL, updated_at = clock_timestamp()
            FROM locked l WHERE e.id = l.id
            """;

    /**
     * By id, identity and revision: a row that was edited since, or another with a reused id, is not touched. (An identity is in
     * the table once, so it need not be compared together with the id that it had.) Found, and
     * so locked, in the order of the ids, by one walk through the index, unless the table is tiny; the CASE keeps the
     * comparison of the rest a hashed filter, since as a join it would cost more than twice as much.
     *
     * <p>Identity and revision are given as 20 bytes for each event, since drivers send arrays of uuid as text, which costs both
     * sides more than to compare them. The ids are asked for, so that the planner does not see how many there are: for few it would
     * make a new plan each time, which costs more than to settle them.
     */
    private static final String SETTLE = """
            WITH asked AS MATERIALIZED (SELECT ?::bigint[] AS ids, ?::bytea AS sent)
            DELETE FROM {event} e
            WHERE e.id = ANY ((SELECT ids FROM asked)::bigint[])
              AND CASE WHEN uuid_send(e.event_id) || int4send(e.revision) IN
                            (SELECT substring(a.sent FROM n * 20 + 1 FOR 20)
                             FROM asked a, generate_series(0, octet_length(a.sent) / 20 - 1) AS n) THEN true END
            """;

    /** Of what was settled, what its stream keeps. */
    static final String KEPT = """
            INSERT INTO {kept in} (id, event_id, stream, event_key, event_type, aggregate_type, aggregate_id,
                payload, payload_kept, content_type, headers, occurred_at, attempt_count, last_error_code,
                last_error_message, created_at, outcome, settled_at, settled_by)
            SELECT g.id, g.event_id, g.stream, g.event_key, g.event_type, g.aggregate_type, g.aggregate_id,
                   CASE WHEN st.history = 'NO_PAYLOAD' THEN NULL ELSE g.payload END,
                   st.history IS DISTINCT FROM 'NO_PAYLOAD', g.content_type, g.headers, g.occurred_at, g.attempt_count,
                   g.last_error_code, g.last_error_message, g.created_at, 'PUBLISHED', clock_timestamp(), ?
            FROM gone g LEFT JOIN {stream} st ON st.stream = g.stream
            """;

    private static final String SETTLE_WITH_HISTORY =
            SETTLE.replace("DELETE FROM", ", gone AS (DELETE FROM") + "RETURNING e.*)\n" + KEPT;

    /**
     * What is left of those that somebody may have settled. The lock waits for the end of a transaction whose COMMIT is still
     * on its way; without it the rows would be seen as before.
     */
    private static final String UNSETTLED = """
            SELECT e.id FROM {event} e
            WHERE (e.id, e.event_id) IN (SELECT * FROM unnest(?::bigint[], ?::uuid[])) ORDER BY e.id FOR UPDATE
            """;

    /**
     * Only the owner of the shard in this epoch may say what becomes of a failed event. The fence is locked before any
     * event row, and is MATERIALIZED, so that a takeover either waits for this statement or is seen by it; tested in a
     * plain join, it would let a relay that was replaced meanwhile write.
     *
     * <p>What has expired was not tried: no attempt is counted, its key is not held and its stream does not stop.
     */
    private static final String VERDICT = """
            WITH given AS (
                SELECT * FROM unnest(?::bigint[], ?::uuid[], ?::integer[], ?::smallint[], ?::bigint[], ?::text[],
                                     ?::bigint[], ?::text[], ?::text[], ?::boolean[])
                    AS given (id, event_id, revision, shard, epoch, status, delay_micros, code, message, expired)
            ),
            fence AS MATERIALIZED (
                SELECT s.shard, s.epoch FROM {shard} s
                WHERE s.relay_group = ? AND s.owner = ?
                  AND (s.shard, s.epoch) IN (SELECT shard, epoch FROM given)
                ORDER BY s.shard FOR SHARE
            ),
            locked AS MATERIALIZED (
                SELECT e.id FROM {event} e JOIN given g ON g.id = e.id
                WHERE (SELECT count(*) FROM fence) > 0
                ORDER BY e.id FOR UPDATE OF e
            ),
            changed AS (
                UPDATE {event} e
                SET status = g.status,
                    holds = e.event_key IS NOT NULL AND NOT g.expired AND (g.status <> 'DEAD' OR 'SKIP' IS DISTINCT FROM
                                (SELECT st.on_dead FROM {stream} st WHERE st.stream = e.stream)),
                    revision = e.revision + 1,
                    due_at = clock_timestamp() + g.delay_micros * interval '1 microsecond', locked_by = NULL,
                    attempt_count = e.attempt_count + CASE WHEN g.expired THEN 0 ELSE 1 END,
                    last_attempt_at = CASE WHEN g.expired THEN e.last_attempt_at ELSE clock_timestamp() END,
                    last_error_code = g.code, last_error_message = g.message, updated_at = clock_timestamp()
                FROM given g JOIN fence f ON f.shard = g.shard AND f.epoch = g.epoch JOIN locked l ON l.id = g.id
                WHERE e.id = g.id AND e.event_id = g.event_id AND e.revision = g.revision
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
            SELECT c.id, NULL::smallint AS fenced FROM changed c
            UNION ALL
            SELECT NULL, f.shard FROM fence f
            """;

    private static final String REGISTER = """
            INSERT INTO {stream} (stream, relay_group) SELECT unnest(?::text[]), ? ON CONFLICT (stream) DO NOTHING
            """;

    /** Returns the group that the stream belongs to and its mode, whether or not this changed anything. */
    private static final String DECLARE = """
            INSERT INTO {stream} AS st (stream, relay_group, mode, on_dead, history) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (stream) DO UPDATE
            SET on_dead = CASE WHEN (st.relay_group, st.mode) = (excluded.relay_group, excluded.mode)
                               THEN excluded.on_dead ELSE st.on_dead END,
                history = CASE WHEN (st.relay_group, st.mode) = (excluded.relay_group, excluded.mode)
                               THEN excluded.history ELSE st.history END
            RETURNING st.relay_group, st.mode
            """;

    private static final String STREAMS_OF_GROUP = "SELECT st.stream FROM {stream} st WHERE st.relay_group = ? LIMIT 1";

    /**
     * Notes which events are about to be sent, in the place of all that were noted before. The fence is that
     * of a verdict, and returned are those of them that are there.
     */
    private static final String MARK = """
            WITH given AS (
                SELECT * FROM unnest(?::smallint[], ?::bigint[], ?::bigint[]) AS given (shard, epoch, suspect)
            ),
            mine AS MATERIALIZED (
                SELECT s.shard, s.epoch FROM {shard} s
                WHERE s.owner = ? AND s.relay_group = ?
                  AND (s.suspects IS NOT NULL OR (s.shard, s.epoch) IN (SELECT g.shard, g.epoch FROM given g))
                ORDER BY s.shard FOR UPDATE OF s
            ),
            moved AS (
                UPDATE {shard} s
                SET suspects = (SELECT array_agg(g.suspect) FROM given g WHERE g.shard = m.shard AND g.epoch = m.epoch)
                FROM mine m WHERE s.relay_group = ? AND s.shard = m.shard
                RETURNING s.suspects
            )
            SELECT e.id FROM {event} e WHERE e.id IN (SELECT unnest(m.suspects) FROM moved m)
            """;

    /** Whatever ended its owners is not in these any more. */
    private static final String CALM = """
            UPDATE {shard} s SET unclean = 0, suspects = NULL
            FROM unnest(?::smallint[], ?::bigint[]) AS calm (shard, epoch)
            WHERE s.relay_group = ? AND s.shard = calm.shard AND s.epoch = calm.epoch AND s.owner = ?
            """;
}
