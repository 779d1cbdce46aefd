// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/**
 * Every statement of alerts, composed once. A row of the table of alerts is changed by who knows its revision; who wants to
 * tell claims it first, and what he did is recorded only if his claim still stands. Time is the database's.
 */
public final class AlertSql {
    public final String now;
    public final String dead;
    public final String examples;
    public final String held;
    public final String known;
    public final String claimNew;
    public final String claim;
    public final String told;
    public final String failed;
    public final String forget;

    public AlertSql(TableNames tables) {
        now = "SELECT clock_timestamp()";
        dead = with(tables, DEAD);
        examples = with(tables, EXAMPLES);
        held = with(tables, HELD);
        known = with(tables, KNOWN);
        claimNew = with(tables, CLAIM_NEW);
        claim = with(tables, CLAIM);
        told = with(tables, CHANGE.replace("{change}", TOLD));
        failed = with(tables, CHANGE.replace("{change}", FAILED));
        forget = with(tables, FORGET);
    }

    private static String with(TableNames tables, String template) {
        return template.replace("{died at}", DIED_AT)
                .replace("{event}", tables.event())
                .replace("{attempt}", tables.attempt())
                .replace("{alert}", tables.alert());
    }

    /** By its last attempt, since people change what is dead; what has expired died without one. */
    private static final String DIED_AT =
            "coalesce(CASE WHEN e.last_error_code IS DISTINCT FROM 'EXPIRED' THEN e.last_attempt_at END, e.updated_at)";

    /** Per stream how many are dead, up to the bound, and when the last of them died. */
    private static final String DEAD = """
            WITH RECURSIVE buried (stream) AS (
                (SELECT e.stream FROM {event} e WHERE e.status IN ('DEAD', 'UNKNOWN') ORDER BY e.stream LIMIT 1)
                UNION ALL
                SELECT (SELECT e.stream FROM {event} e
                        WHERE e.status IN ('DEAD', 'UNKNOWN') AND e.stream > b.stream ORDER BY e.stream LIMIT 1)
                FROM buried b WHERE b.stream IS NOT NULL
            )
            SELECT b.stream, d.rows, d.newest
            FROM buried b CROSS JOIN LATERAL (
                SELECT count(*) AS rows, max(x.died_at) AS newest
                FROM (SELECT {died at} AS died_at FROM {event} e
                      WHERE e.status IN ('DEAD', 'UNKNOWN') AND e.stream = b.stream LIMIT ?) x) d
            WHERE b.stream IS NOT NULL ORDER BY b.stream
            """;

    /** Some that died after a time, of some streams; the bound keeps a sort of millions away. */
    private static final String EXAMPLES = """
            SELECT x.* FROM (
                SELECT e.id, e.event_id, e.revision, e.stream, e.event_key, e.event_type, e.aggregate_type,
                       e.aggregate_id, e.holds, e.attempt_count, e.last_error_code, e.last_error_message, e.created_at,
                       e.last_attempt_at
                FROM {event} e
                WHERE e.status IN ('DEAD', 'UNKNOWN') AND e.stream = ANY (?)
                  AND {died at} > ? LIMIT 100000) x
            ORDER BY x.id LIMIT ?
            """;

    /**
     * Per stream how many keys are held for longer than so many seconds, and the one held for longest. A key is held since the
     * first failure of what holds it; that was not before the event was written, which sorts out most without a look at
     * their attempts.
     */
    private static final String HELD = """
            WITH asked AS MATERIALIZED (
                SELECT clock_timestamp() AS now, clock_timestamp() - ? * interval '1 second' AS before
            ),
            held AS MATERIALIZED (
                SELECT e.stream, e.event_key, coalesce(
                           (SELECT f.attempted_at FROM {attempt} f WHERE f.event_id = e.event_id ORDER BY f.id LIMIT 1),
                           e.last_attempt_at, e.created_at) AS since
                FROM {event} e CROSS JOIN asked a
                WHERE e.holds AND e.event_key IS NOT NULL AND (e.locked_by IS NULL OR e.due_at <= a.now)
                  AND e.created_at < a.before LIMIT 10000
            )
            SELECT h.stream, count(DISTINCT h.event_key), (array_agg(h.event_key ORDER BY h.since))[1],
                   extract(epoch FROM max(a.now) - min(h.since))
            FROM held h CROSS JOIN asked a WHERE h.since < a.before GROUP BY h.stream ORDER BY h.stream
            """;

    private static final String KNOWN = """
            SELECT a.condition, a.subject, a.revision, a.raised, a.failures, a.not_before <= n.now,
                   extract(epoch FROM n.now - a.told_at), a.told_of, a.told_value
            FROM {alert} a CROSS JOIN (SELECT clock_timestamp() AS now) n WHERE a.channel = ?
            """;

    /** Of those who find no row one makes it. */
    private static final String CLAIM_NEW = """
            INSERT INTO {alert} (channel, condition, subject, not_before)
            SELECT ?, ?, g.subject, clock_timestamp() + ? * interval '1 millisecond'
            FROM unnest(?::text[]) AS g (subject) ORDER BY g.subject
            ON CONFLICT (channel, condition, subject) DO NOTHING
            RETURNING subject, revision
            """;

    /**
     * Locked in one order first, since several are claimed at once. What was over and is so again counts as never told, so
     * that it is told if this one dies now.
     */
    private static final String CLAIM = """
            WITH given AS (SELECT * FROM unnest(?::text[], ?::bigint[]) AS g (subject, revision)),
            locked AS MATERIALIZED (
                SELECT a.channel, a.condition, a.subject FROM {alert} a JOIN given g ON g.subject = a.subject
                WHERE a.channel = ? AND a.condition = ? ORDER BY a.subject FOR UPDATE OF a
            )
            UPDATE {alert} a
            SET revision = a.revision + 1, raised = true, told_at = CASE WHEN a.raised THEN a.told_at END,
                not_before = clock_timestamp() + ? * interval '1 millisecond'
            FROM given g JOIN locked l ON l.subject = g.subject
            WHERE a.channel = l.channel AND a.condition = l.condition AND a.subject = g.subject
              AND a.revision = g.revision AND a.not_before <= clock_timestamp()
            RETURNING a.subject, a.revision
            """;

    private static final String CHANGE = """
            WITH given AS (SELECT * FROM unnest(?::text[], ?::bigint[], ?::bigint[]) AS g (subject, revision, value)),
            asked AS (SELECT ?::boolean AS raised, ?::timestamptz AS told_of),
            locked AS MATERIALIZED (
                SELECT a.channel, a.condition, a.subject FROM {alert} a JOIN given g ON g.subject = a.subject
                WHERE a.channel = ? AND a.condition = ? ORDER BY a.subject FOR UPDATE OF a
            )
            UPDATE {alert} a
            SET revision = a.revision + 1, {change}
            FROM given g JOIN locked l ON l.subject = g.subject CROSS JOIN asked x
            WHERE a.channel = l.channel AND a.condition = l.condition AND a.subject = g.subject
              AND a.revision = g.revision
            """;

    private static final String TOLD = """
            raised = x.raised, told_of = x.told_of, told_value = g.value, told_at = clock_timestamp(), failures = 0,
            not_before = clock_timestamp()""";

    /** 30 s, doubling to 16 min. */
    private static final String FAILED = """
            failures = a.failures + 1,
            not_before = clock_timestamp() + least(30 * 2 ^ least(a.failures, 10), 960) * interval '1 second'""";

    /** What is over and was told is remembered for a day, so that what comes and goes is not told each time. */
    private static final String FORGET = """
            DELETE FROM {alert}
            WHERE channel = ? AND not_before < clock_timestamp() - CASE WHEN raised THEN interval '30 days'
                                                                        ELSE interval '1 day' END
            """;
}
