// SPDX-License-Identifier: Apache-2.0
package io.postrider.table;

import java.util.regex.Pattern;

/**
 * The names of Postrider's tables, as every statement uses them.
 *
 * @param schema the database schema they are in; empty: the first of the connection's search_path
 */
public record TableNames(String schema) {
    private static final Pattern IDENTIFIER = Pattern.compile("[a-z_][a-z0-9_]{0,47}");

    public TableNames {
        if (!schema.isEmpty() && !IDENTIFIER.matcher(schema).matches()) {
            throw new IllegalArgumentException("Schema name '" + schema.replaceAll("\\p{Cntrl}", "?")
                    + "' is not allowed: use lower-case letters, digits and _, at most 48, not starting with a digit.");
        }
    }

    /** The tables in the first schema of the connection's search_path. */
    public static TableNames ofDefaults() {
        return new TableNames("");
    }

    public String event() {
        return in("outbox_event");
    }

    public String history() {
        return in("outbox_history");
    }

    public String historyOverflow() {
        return in("outbox_history_overflow");
    }

    public String attempt() {
        return in("outbox_attempt");
    }

    public String relay() {
        return in("outbox_relay");
    }

    public String shard() {
        return in("outbox_shard");
    }

    public String stream() {
        return in("outbox_stream");
    }

    public String audit() {
        return in("outbox_audit");
    }

    public String alert() {
        return in("outbox_alert");
    }

    public String duty() {
        return in("outbox_duty");
    }

    public String inbox() {
        return in("inbox_message");
    }

    public String meta() {
        return in("outbox_meta");
    }

    public String historyPrepare() {
        return in("outbox_history_prepare");
    }

    public String historyDrop() {
        return in("outbox_history_drop");
    }

    public String historyOld() {
        return in("outbox_history_old");
    }

    public String historyTrim() {
        return in("outbox_history_trim");
    }

    public String auditPrune() {
        return in("outbox_audit_prune");
    }

    private String in(String name) {
        return schema.isEmpty() ? name : schema + "." + name;
    }
}
