// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.util.Map;

/**
 * Fills a table, and empties it by one of the ways, to nowhere.
 *
 * @param part one event for so many of the others, where each is committed by itself
 */
record QueueRound(Rig rig, Backlog backlog, int part) implements Variant {

    @Override
    public String name() {
        return backlog.name();
    }

    @Override
    public Map<String, Double> round(int size) throws Exception {
        int events = Math.max(1, size / part);
        String tables = String.join(", ", backlog.tables());
        rig.sql("TRUNCATE " + tables);
        backlog.fillAhead();
        rig.sql(DrainRound.fill(backlog.tables()[0], events), "VACUUM (ANALYZE) " + tables, "CHECKPOINT");
        Measured measured = Measured.begin(rig);
        Map<String, Double> result = measured.end(events, backlog.drain(events));
        long left = rig.number(backlog.countLeft());
        if (left != 0) {
            throw new IllegalStateException("%s left %d of %d events".formatted(name(), left, events));
        }
        return result;
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
