// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.Set;

/** How much more a loop may read, by its window and what is in its lanes. For one thread. */
final class Room {
    private final Window window;
    private final Lanes lanes;
    private final boolean keepsOrder;

    Room(Window window, Lanes lanes, boolean keepsOrder) {
        this.window = window;
        this.lanes = lanes;
        this.keepsOrder = keepsOrder;
    }

    /** Whether there is none for another batch, of whatever stream. */
    boolean isFull() {
        return window.totalRows() - lanes.rows() < window.batchRows()
                || window.totalBytes() - lanes.bytes() < window.batchBytes();
    }

    /** Those that have no room of their own left. */
    Set<String> fullStreams() {
        int rows = keepsOrder ? window.rows() - window.batchRows() : window.rows() - worthARead();
        return lanes.fullerThan(rows, window.bytes() - window.batchBytes());
    }

    /** A single place, unless enough is here that waits to be sent: then a read for each would cost more than the sends. */
    private int worthARead() {
        return lanes.waiting() < window.rows() / 4 ? 1 : Math.max(1, window.rows() / 2);
    }

    /** Where nobody waits for his turn, each place that is free is worth a read: what has the others may take long. */
    Demand demand(Set<String> without) {
        return keepsOrder
                ? Demand.of(window.batchRows(), window.batchBytes(), without)
                : Demand.of(window.rows(), window.batchBytes(), without).beside(lanes.load());
    }
}
