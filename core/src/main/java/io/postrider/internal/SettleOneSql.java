// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/**
 * How a single event is settled, composed once: by the same id, identity and revision as many are in {@link Sql}, but compared
 * as they are: a list of one costs the database twice as much, transaction and all.
 */
public final class SettleOneSql {
    public final String settle;
    public final String settleWithHistory;
    public final String settleWithOverflow;

    public SettleOneSql(TableNames tables) {
        settle = with(tables, DELETE);
        settleWithHistory = with(tables, WITH_HISTORY).replace("{kept in}", tables.history());
        settleWithOverflow = with(tables, WITH_HISTORY).replace("{kept in}", tables.historyOverflow());
    }

    private static String with(TableNames tables, String template) {
        return template.replace("{event}", tables.event()).replace("{stream}", tables.stream());
    }

    private static final String DELETE = "DELETE FROM {event} e WHERE e.id = ? AND e.event_id = ? AND e.revision = ?";

    private static final String WITH_HISTORY = "WITH gone AS (" + DELETE + " RETURNING e.*)\n" + Sql.KEPT;
}
