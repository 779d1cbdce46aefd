// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

/**
 * Which suspects a claim may bring: events that were under way when a process ended, or stood still for longer than their
 * leases. Any of them may have been the reason. So those that one end left behind go in a small group, those that two left behind
 * go alone, and what three left behind is not sent any more: beside others nobody could say which of them it was.
 *
 * @param ends how often their leases have run out; 0: no suspects
 * @param most how many of them
 */
record LeftBehind(int ends, int most) {
    static final int TOO_OFTEN = 3;
    static final LeftBehind NONE = new LeftBehind(0, 0);
    static final LeftBehind ONCE = new LeftBehind(1, 16);
    static final LeftBehind TWICE = new LeftBehind(2, 1);

    boolean isNone() {
        return ends == 0;
    }

    /** The other kind. */
    LeftBehind other() {
        return this == ONCE ? TWICE : ONCE;
    }
}
