// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

/**
 * Another relay that has a shard, as where an application runs more than once: then what is committed here is leased to the
 * relay here. It has one to which no key of the benchmarks belongs, and delivers nothing.
 */
final class Elsewhere {
    private static final String COME = """
            WITH elsewhere AS (
                INSERT INTO outbox_relay (name, relay_group, wants, ttl_ms, lease_until)
                VALUES ('elsewhere', 'default', 'REST', 3600000, now() + interval '1 hour') RETURNING id
            ),
            unused AS (
                SELECT max(s.shard) AS shard FROM generate_series(0, 255) AS s (shard)
                WHERE s.shard NOT IN (SELECT hashtextextended(('order-' || n) COLLATE "C", 0) & 255 FROM generate_series(0, %d) n)
            )
            INSERT INTO outbox_shard (relay_group, shard, owner, epoch)
            SELECT 'default', u.shard, e.id, 1 FROM elsewhere e, unused u
            ON CONFLICT (relay_group, shard) DO UPDATE SET owner = EXCLUDED.owner, epoch = outbox_shard.epoch + 1
            """;

    private Elsewhere() {}

    /** @param keys how many there are, from {@code order-0} on */
    static void come(Rig rig, int keys) {
        rig.sql(COME.formatted(keys - 1));
    }

    static void leave(Rig rig) {
        rig.sql(
                "UPDATE outbox_shard SET owner = NULL, epoch = epoch + 1"
                        + " WHERE owner IN (SELECT id FROM outbox_relay WHERE name = 'elsewhere')",
                "DELETE FROM outbox_relay WHERE name = 'elsewhere'");
    }
}
