// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

/** What can be wrong; {@link Condition} says when it is. */
public enum AlertKind {
    DEAD_LETTERS("dead-letters", "Event Dead Letter Alert", true),
    PENDING("pending", "Event Backlog Alert", false),
    RETRYING("retrying", "Event Retry Alert", false),
    OLDEST("oldest", "Event Delay Alert", false),
    HELD_KEY("held-key", "Held Key Alert", true),
    RELAY_SILENT("relay-silent", "Relay Silent Alert", false),
    NO_RELAY("no-relay", "No Relay Alert", true),
    DESTINATION_DOWN("destination-down", "Destination Down Alert", true);

    private final String code;
    private final String title;
    private final boolean urgent;

    AlertKind(String code, String title, boolean urgent) {
        this.code = code;
        this.title = title;
        this.urgent = urgent;
    }

    /** Its name where it is stored and in documents. */
    public String code() {
        return code;
    }

    public String title() {
        return title;
    }

    /** Whether somebody must act now. */
    public boolean urgent() {
        return urgent;
    }
}
