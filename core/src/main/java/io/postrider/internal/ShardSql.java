// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/** The statements on relays and their shards, composed once. Each is a transaction of its own. */
public final class ShardSql {
    public final String makeShards;
    public final String join;
    public final String tick;
    public final String declareDead;
    public final String takeShards;
    public final String releaseShards;
    public final String leave;

    ShardSql(TableNames tables) {
        makeShards = with(tables, MAKE_SHARDS);
        join = with(tables, JOIN);
        tick = with(tables, TICK);
        declareDead = with(tables, DECLARE_DEAD);
        takeShards = with(tables, TAKE_SHARDS);
        releaseShards = with(tables, RELEASE_SHARDS);
        leave = with(tables, LEAVE);
    }

    private static String with(TableNames tables, String template) {
        return template.replace("{event}", tables.event())
                .replace("{relay}", tables.relay())
                .replace("{shard}", tables.shard());
    }

    private static final String MAKE_SHARDS = """
            INSERT INTO {shard} (relay_group, shard) SELECT ?, generate_series(0, 255) ON CONFLICT DO NOTHING
            """;

    private static final String JOIN = """
            INSERT INTO {relay} (name, relay_group, wants, ttl_ms, lease_until, version)
            VALUES (?, ?, ?, ?, clock_timestamp() + ? * interval '1 millisecond', ?) RETURNING id
            """;

    /** Renews this relay's lease, never makes one, and shows all relays and shards of the group. */
    private static final String TICK = """
            WITH me AS (
                UPDATE {relay} SET lease_until = clock_timestamp() + ttl_ms * interval '1 millisecond', beat = beat + 1,
                       wants = ?, in_flight = ?, published = ?, closed = ?
                WHERE id = ? AND NOT pg_is_in_recovery() RETURNING id
            )
            SELECT 'ME' AS kind, me.id AS relay, NULL::bigint AS number, NULL::text AS wants, false AS past,
                   NULL::smallint AS shard, NULL::integer AS ttl_ms, NULL::text[] AS closed
            FROM me
            UNION ALL
            SELECT 'RELAY', r.id, r.beat, r.wants, r.lease_until < clock_timestamp(), NULL, r.ttl_ms, r.closed
            FROM {relay} r WHERE r.relay_group = ?
            UNION ALL
            SELECT 'SHARD', s.owner, s.epoch, NULL, false, s.shard, NULL, NULL FROM {shard} s WHERE s.relay_group = ?
            """;

    /** Only whoever has seen its last beat may declare a relay dead, so a renewal in between saves it. */
    private static final String DECLARE_DEAD = """
            DELETE FROM {relay} WHERE id = ? AND beat = ? AND (lease_until < clock_timestamp() OR ?)
            """;

    /**
     * By compare-and-set on the epoch; testing only that the owner is gone would let a second taker steal.
     *
     * <p>What the former owner had marked when it ended without a release is counted as one more death. Neither the row's
     * revision is raised nor is its lock waited for: a delivery that is being recorded meanwhile is a fact, and counts
     * more. Who takes a shard that was left so also learns how often in a row, and which ids were there the first time: what
     * came later cannot have ended them all.
     */
    private static final String TAKE_SHARDS = """
            WITH free AS MATERIALIZED (
                SELECT s.shard, s.owner AS former, s.suspects FROM {shard} s
                JOIN unnest(?::smallint[], ?::bigint[]) AS seen (shard, epoch)
                  ON s.shard = seen.shard AND s.epoch = seen.epoch
                WHERE s.relay_group = ?
                  AND (s.owner IS NULL OR NOT EXISTS (SELECT FROM {relay} r WHERE r.id = s.owner))
                  AND EXISTS (SELECT FROM {relay} r WHERE r.id = ? AND r.lease_until > clock_timestamp())
                ORDER BY s.shard FOR UPDATE OF s
            ),
            suspected AS MATERIALIZED (
                SELECT e.id FROM {event} e
                WHERE e.id = ANY (ARRAY(SELECT unnest(f.suspects) FROM free f WHERE f.former IS NOT NULL))
                  AND e.status IN ('PENDING', 'WAITING')
                FOR UPDATE SKIP LOCKED
            ),
            counted AS (
                UPDATE {event} e SET unclean_count = e.unclean_count + 1, updated_at = clock_timestamp()
                FROM suspected WHERE e.id = suspected.id
            )
            UPDATE {shard} s SET owner = ?, epoch = s.epoch + 1, suspects = NULL,
                   unclean = s.unclean + CASE WHEN s.owner IS NULL THEN 0 ELSE 1 END,
                   newest = CASE WHEN s.owner IS NOT NULL AND s.unclean = 0
                                 THEN (SELECT coalesce(max(e.id), 0) FROM {event} e) ELSE s.newest END
            FROM free WHERE s.relay_group = ? AND s.shard = free.shard
            RETURNING s.shard, s.epoch, s.unclean, s.newest
            """;

    /** A shard that was left without a release several times stays one to be careful with, whoever has it next. */
    private static final String RELEASE_SHARDS = """
            UPDATE {shard} s SET owner = NULL, suspects = NULL, unclean = CASE WHEN s.unclean < ? THEN 0 ELSE s.unclean END
            FROM unnest(?::smallint[], ?::bigint[]) AS mine (shard, epoch)
            WHERE s.relay_group = ? AND s.shard = mine.shard AND s.epoch = mine.epoch AND s.owner = ?
            """;

    private static final String LEAVE = "DELETE FROM {relay} WHERE id = ?";
}
