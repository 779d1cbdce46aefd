// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.util.LinkedHashMap;
import java.util.Map;

/** Fills a table, empties it by one of the ways, and checks that every event arrived. */
final class DrainRound implements Variant {
    static final String METRIC = "events_per_s";

    /** As the library writes them: ids in order of time, keys at random; the same for every table. */
    private static final String FILL = """
            INSERT INTO %s (event_id, stream, event_key, event_type, aggregate_type, aggregate_id, payload,
                            content_type, headers, occurred_at)
            SELECT uuidv7(), '%s', k.key, 'OrderPlaced', 'Order', k.key, decode(repeat(md5(n::text), 32), 'hex'),
                   'application/octet-stream', '{}', clock_timestamp()
            FROM generate_series(1, %d) AS n,
                 LATERAL (SELECT 'order-' || (hashint8(n)::bigint & 2147483647) %% 1000 AS key) AS k
            """;

    private final Rig rig;
    private final Backlog backlog;
    private final double sizeFactor;

    DrainRound(Rig rig, Backlog backlog) {
        this(rig, backlog, 1.0);
    }

    /** @param sizeFactor how many times the size of the other variants this one gets */
    DrainRound(Rig rig, Backlog backlog, double sizeFactor) {
        this.rig = rig;
        this.backlog = backlog;
        this.sizeFactor = sizeFactor;
    }

    @Override
    public String name() {
        return backlog.name();
    }

    @Override
    public Map<String, Double> round(int size) throws Exception {
        int events = (int) Math.round(size * sizeFactor);
        fill(events);
        long walBefore = rig.walPosition();
        long topicBefore = rig.topicEnd();
        Cpu.Reading cpuBefore = rig.cpu().read();
        long nanos = backlog.drain(events);
        Map<String, Double> cores = Cpu.cores(cpuBefore, rig.cpu().read());
        long wal = rig.walPosition() - walBefore;
        check(events, rig.topicEnd() - topicBefore);
        Map<String, Double> measured = new LinkedHashMap<>();
        measured.put(METRIC, events / (nanos / 1e9));
        measured.put("wal_bytes_per_event", (double) wal / events);
        // Per event, and not per second: less disturbed by what else runs.
        cores.forEach((name, used) -> measured.put(
                name.equals(Results.OTHER_LOAD) ? name : name + "_us_per_event",
                name.equals(Results.OTHER_LOAD) ? used : used * (nanos / 1e3) / events));
        return measured;
    }

    static String fill(String table, int events) {
        return FILL.formatted(table, Rig.TOPIC, events);
    }

    private void fill(int events) {
        String tables = String.join(", ", backlog.tables());
        rig.sql("TRUNCATE " + tables, fill(backlog.tables()[0], events), "VACUUM (ANALYZE) " + tables, "CHECKPOINT");
    }

    private void check(int events, long arrived) {
        long left = rig.number(backlog.countLeft());
        if (left != 0 || arrived != events) {
            throw new IllegalStateException(
                    "%s delivered %d of %d events and left %d".formatted(backlog.name(), arrived, events, left));
        }
    }

    @Override
    public void close() {
        try {
            backlog.close();
        } catch (Exception e) {
            throw new IllegalStateException(backlog.name() + " could not be ended", e);
        }
    }
}
