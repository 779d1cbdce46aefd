// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.util.LinkedHashMap;
import java.util.Map;

/** What a round costs, from its beginning to its end. */
record Measured(Rig rig, long wal, Cpu.Reading cpu) {
    static final String METRIC = "events_per_s";

    static Measured begin(Rig rig) {
        return new Measured(rig, rig.walPosition(), rig.cpu().read());
    }

    Map<String, Double> end(int events, long nanos) {
        Cpu.Reading after = rig.cpu().read();
        Map<String, Double> measured = new LinkedHashMap<>();
        measured.put(METRIC, events / (nanos / 1e9));
        measured.put("wal_bytes_per_event", (double) (rig.walPosition() - wal) / events);
        // Per event, and not per second: less disturbed by what else runs.
        Cpu.cores(cpu, after)
                .forEach((name, used) -> measured.put(
                        name.equals(Results.OTHER_LOAD) ? name : name + "_us_per_event",
                        name.equals(Results.OTHER_LOAD) ? used : used * (nanos / 1e3) / events));
        return measured;
    }
}
