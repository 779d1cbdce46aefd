// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

/** What the program returns to the shell; documented in {@code docs/guide/operate.md}, so never changed. */
final class Exit {
    static final int DONE = 0;
    static final int FAILED = 1;
    static final int USAGE = 2;
    /** Nothing was found or changed; something is left over; a checkup found problems. */
    static final int NOTHING = 3;
    /** What is left belongs to running relays. */
    static final int OTHERS = 4;

    private Exit() {}
}
