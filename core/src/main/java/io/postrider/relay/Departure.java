// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

/** A delivery that was sent and not yet answered, and the lane that it is in. For one thread. */
final class Departure {
    private final Delivery delivery;
    private final Lane lane;
    private final long at;
    private boolean underWay = true;

    Departure(Delivery delivery, Lane lane, long at) {
        this.delivery = delivery;
        this.lane = lane;
        this.at = at;
    }

    Delivery delivery() {
        return delivery;
    }

    Lane lane() {
        return lane;
    }

    /** When it was sent. */
    long at() {
        return at;
    }

    /** Whether its answer is still waited for: not after it came, nor after it was given up. */
    boolean isUnderWay() {
        return underWay;
    }

    void end() {
        underWay = false;
    }
}
