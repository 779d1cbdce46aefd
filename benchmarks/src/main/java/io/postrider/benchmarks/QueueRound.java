// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.util.LinkedHashMap;
import java.util.Map;

/** Fills a table, and empties it by one of the ways, to nowhere. */
record QueueRound(Rig rig, Backlog backlog) implements Variant {
    static final String METRIC = "events_per_s";

    @Override
    public String name() {
        return backlog.name();
    }

    @Override
    public Map<String, Double> round(int events) throws Exception {
        String tables = String.join(", ", backlog.tables());
        rig.sql("TRUNCATE " + tables);
        backlog.fillAhead();
        rig.sql(DrainRound.fill(backlog.tables()[0], events), "VACUUM (ANALYZE) " + tables, "CHECKPOINT");
        long walBefore = rig.walPosition();
        Cpu.Reading before = rig.cpu().read();
        long nanos = backlog.drain(events);
        Cpu.Reading after = rig.cpu().read();
        double wal = rig.walPosition() - walBefore;
        long left = rig.number(backlog.countLeft());
        if (left != 0) {
            throw new IllegalStateException("%s left %d of %d events".formatted(name(), left, events));
        }
        Map<String, Double> measured = new LinkedHashMap<>();
        measured.put(METRIC, events / (nanos / 1e9));
        measured.put("wal_bytes_per_event", wal / events);
        // Per event, and not per second: less disturbed by what else runs.
        Cpu.cores(before, after)
                .forEach((name, used) -> measured.put(
                        name.equals(Results.OTHER_LOAD) ? name : name + "_us_per_event",
                        name.equals(Results.OTHER_LOAD) ? used : used * (nanos / 1e3) / events));
        return measured;
    }

    @Override
    public void close() {
        try {
            backlog.close();
        } catch (Exception e) {
            throw new IllegalStateException(name() + " could not be ended", e);
        }
    }
}
