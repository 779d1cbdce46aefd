// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** How many events a publisher may have under way for all loops of a relay. Thread-safe. */
final class Slots {
    private final int most;
    private final Set<Runnable> refused = new LinkedHashSet<>();
    private int taken;

    Slots(int most) {
        this.most = most;
    }

    static Slots unlimited() {
        return new Slots(Integer.MAX_VALUE);
    }

    /**
     * Takes one if there is one.
     *
     * @param wake called once when one is given back, if there was none
     */
    boolean take(Runnable wake) {
        return most == Integer.MAX_VALUE || tryTake(wake);
    }

    private synchronized boolean tryTake(Runnable wake) {
        if (taken < most) {
            taken++;
            return true;
        }
        refused.add(wake);
        return false;
    }

    void give() {
        if (most != Integer.MAX_VALUE) {
            giveBack().forEach(Runnable::run);
        }
    }

    private synchronized List<Runnable> giveBack() {
        taken--;
        List<Runnable> woken = List.copyOf(refused);
        refused.clear();
        return woken;
    }
}
