// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

/**
 * Which suspects a claim may bring: events that were under way when a process ended, or stood still for longer than their
 * leases. Any of them may have been the reason. So those that one end left behind go in a small group, those that two left behind
 * go alone, and what three left behind is not sent any more: beside others nobody could say which of them it was.
 */
enum LeftBehind {
    NONE(0, 0),
    ONCE(1, 16),
    TWICE(2, 1);

    static final int TOO_OFTEN = 3;

    private final int ends;
    private final int most;

    LeftBehind(int ends, int most) {
        this.ends = ends;
        this.most = most;
    }

    /** How often their leases have run out. */
    int ends() {
        return ends;
    }

    /** How many of them. */
    int most() {
        return most;
    }

    /** The other kind of suspects. */
    LeftBehind other() {
        return this == ONCE ? TWICE : ONCE;
    }
}
