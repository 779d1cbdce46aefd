// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Who holds which row locks. */
final class Locks {
    private record Row(String table, long row) {}

    private record Held(Object holder, boolean shared) {}

    private final Map<Row, List<Held>> held = new HashMap<>();

    /** Whether it has the lock now. */
    boolean take(Object holder, Statement.Lock lock) {
        List<Held> others = held.computeIfAbsent(new Row(lock.table(), lock.row()), row -> new ArrayList<>(2));
        for (Held other : others) {
            if (other.holder != holder && !(other.shared && lock.shared())) {
                return false;
            }
        }
        others.add(new Held(holder, lock.shared()));
        return true;
    }

    void free(Object holder) {
        held.values().removeIf(holders -> {
            holders.removeIf(one -> one.holder == holder);
            return holders.isEmpty();
        });
    }
}
