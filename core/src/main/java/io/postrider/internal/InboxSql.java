// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/** Every statement on what consumers have processed, composed once. */
public final class InboxSql {
    public final String once;
    public final String claim;
    public final String pages;
    public final String prune;

    public InboxSql(TableNames tables) {
        once = with(tables, ONCE);
        claim = with(tables, CLAIM);
        pages = with(tables, PAGES);
        prune = with(tables, PRUNE);
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
}
