// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.faults.simulator.Ledger.Entry;

/** One hand-over of an event to the destination. */
final class Send {
    final Node node;
    final Entry entry;
    final long at;
    /** Whether it is sent at its commit, under a lease. */
    final boolean leased;

    boolean succeeded;
    boolean answered;

    Send(Node node, Entry entry, long at, boolean leased) {
        this.node = node;
        this.entry = entry;
        this.at = at;
        this.leased = leased;
    }

    boolean isAnswered() {
        return answered;
    }
}
