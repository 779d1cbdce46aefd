// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/** Every statement of retention, composed once. What touches the history runs with the rights of the tables' owner. */
public final class RetentionSql {
    public final String prepareHistory;
    public final String dropHistory;
    public final String oldHistory;
    public final String trimHistory;
    public final String pruneAttempts;
    public final String pruneAudit;

    public RetentionSql(TableNames tables) {
        prepareHistory = "SELECT " + tables.historyPrepare() + "(?)";
        dropHistory = "SELECT " + tables.historyDrop() + "(? * interval '1 second')";
        oldHistory = "SELECT part, pages FROM " + tables.historyOld() + "(? * interval '1 second')";
        trimHistory = "SELECT " + tables.historyTrim() + "(? * interval '1 second', ?, ?, ?, ?)";
        pruneAttempts = PRUNE_ATTEMPTS.replace("{attempt}", tables.attempt()).replace("{event}", tables.event());
        pruneAudit = "SELECT " + tables.auditPrune() + "(? * interval '1 second')";
    }

    /** Attempts of events that are still undelivered are kept, however old. */
    private static final String PRUNE_ATTEMPTS = """
            DELETE FROM {attempt} WHERE id IN (
                SELECT a.id FROM {attempt} a
                WHERE a.attempted_at < clock_timestamp() - ? * interval '1 second'
                  AND NOT EXISTS (SELECT FROM {event} e WHERE e.event_id = a.event_id)
                LIMIT 10000)
            """;
}
