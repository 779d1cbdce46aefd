// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.OutboxEvent;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs transactions on several connections at once for some seconds and counts them. */
final class AppendRound implements Variant {
    static final String METRIC = "tx_per_s";
    private static final int PAYLOAD_BYTES = 512;
    static final int KEYS = 1_000;

    private final Rig rig;
    private final Extra extra;
    private final int threads;
    private final String tables;

    /** @param tables those that are emptied before */
    AppendRound(Rig rig, Extra extra, int threads, String tables) {
        this.rig = rig;
        this.extra = extra;
        this.threads = threads;
        this.tables = tables;
    }

    static OutboxEvent event(int number) {
        return Business.event("order-" + number % KEYS, new byte[PAYLOAD_BYTES]);
    }

    @Override
    public String name() {
        return extra.name();
    }

    @Override
    public Map<String, Double> round(int millis) throws Exception {
        rig.sql("TRUNCATE " + tables, "CHECKPOINT");
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        extra.open();
        try {
            Cpu.Reading before = rig.cpu().read();
            long end = System.nanoTime() + millis * 1_000_000L;
            List<Future<Integer>> counts = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int thread = i;
                counts.add(pool.submit(() -> transactions(thread, end)));
            }
            double sum = 0;
            for (Future<Integer> count : counts) {
                sum += count.get();
            }
            Cpu.Reading after = rig.cpu().read();
            Map<String, Double> measured = new LinkedHashMap<>();
            measured.put(METRIC, sum / ((after.nanos() - before.nanos()) / 1e9));
            measured.putAll(extra.measured(sum));
            measured.put(Results.OTHER_LOAD, Cpu.cores(before, after).getOrDefault(Results.OTHER_LOAD, Double.NaN));
            return measured;
        } finally {
            pool.shutdown();
            extra.close();
        }
    }

    private int transactions(int thread, long end) throws Exception {
        int count = 0;
        try (Connection connection = rig.dataSource().getConnection();
                PreparedStatement business = connection.prepareStatement(Business.INSERT)) {
            connection.setAutoCommit(false);
            // One at least: without any there is nothing to compare with.
            do {
                int number = count * threads + thread;
                Business.bind(business, number);
                business.executeUpdate();
                extra.in(connection, number);
                connection.commit();
                extra.committed(connection);
                count++;
            } while (System.nanoTime() - end < 0);
        }
        return count;
    }
}
