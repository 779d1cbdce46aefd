// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/** What is asked of the server to see whether all is well; reads catalogues and statistics, never many rows. */
public final class CheckupSql {
    public final String server = "SELECT current_setting('server_version'), pg_is_in_recovery(), clock_timestamp()";
    public final String history;
    public final String turnover;
    public final String snapshots = SNAPSHOTS;

    public CheckupSql(TableNames tables) {
        history = HISTORY.replace("{history}", tables.history()).replace("{overflow}", tables.historyOverflow());
        turnover = TURNOVER.replace("{event}", tables.event());
    }

    private static final String HISTORY = """
            SELECT (SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                    WHERE i.inhparent = '{history}'::regclass AND c.relname ~ '^outbox_history_[0-9]{8}$'
                      AND to_date(right(c.relname, 8), 'YYYYMMDD') > (clock_timestamp() AT TIME ZONE 'UTC')::date),
                   EXISTS (SELECT settled_at FROM {overflow})
            """;

    private static final String TURNOVER = """
            SELECT n_live_tup, n_dead_tup, pg_relation_size(relid), greatest(last_vacuum, last_autovacuum)
            FROM pg_stat_user_tables WHERE relid = '{event}'::regclass
            """;

    /** Whoever keeps old rows alive: then nothing can be vacuumed, and every read walks over what was delivered. */
    private static final String SNAPSHOTS = """
            SELECT 'session ' || pid || coalesce(' of ' || usename, '') || coalesce(' (' || nullif(application_name, '') || ')', '')
                       AS holder,
                   extract(epoch FROM clock_timestamp() - xact_start) AS seconds
            FROM pg_stat_activity
            WHERE xact_start < clock_timestamp() - interval '5 minutes' AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
              AND backend_type = 'client backend'
            UNION ALL
            SELECT 'prepared transaction ' || gid, extract(epoch FROM clock_timestamp() - prepared)
            FROM pg_prepared_xacts WHERE prepared < clock_timestamp() - interval '5 minutes'
            UNION ALL
            SELECT 'unused replication slot ' || slot_name, NULL
            FROM pg_replication_slots WHERE NOT active AND xmin IS NOT NULL
            ORDER BY seconds DESC NULLS LAST LIMIT 5
            """;
}
