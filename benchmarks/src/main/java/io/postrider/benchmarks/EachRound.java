// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A transaction for each event, on several connections at once: what is compared with a way that commits each by itself.
 *
 * @param part one event for so many of the others: a commit for each takes long
 */
record EachRound(Rig rig, String name, Each each, int connections, int part) implements Variant {

    /** What is done with one event. Thread-safe. */
    interface Each {
        /** The tables that are emptied before. */
        String tables();

        /** Called before each round, with empty tables. */
        default void fill(int events) {}

        /** In an open transaction. */
        void in(Connection connection, int number) throws Exception;

        /** How many events have not been done. */
        long left(int events);
    }

    @Override
    public Map<String, Double> round(int size) throws Exception {
        int events = Math.max(1, size / part);
        rig.sql("TRUNCATE " + each.tables());
        each.fill(events);
        rig.sql("VACUUM (ANALYZE) " + each.tables(), "CHECKPOINT");
        Measured measured = Measured.begin(rig);
        long nanos = run(events);
        Map<String, Double> result = new LinkedHashMap<>(measured.end(events, nanos));
        long left = each.left(events);
        if (left != 0) {
            throw new IllegalStateException("%s left %d of %d events".formatted(name, left, events));
        }
        return result;
    }

    private long run(int events) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(connections);
        long start = System.nanoTime();
        try {
            List<Future<?>> workers = new ArrayList<>();
            for (int i = 0; i < connections; i++) {
                int first = i;
                workers.add(threads.submit(() -> {
                    work(first, events);
                    return null;
                }));
            }
            for (Future<?> worker : workers) {
                worker.get();
            }
            return System.nanoTime() - start;
        } finally {
            threads.shutdown();
        }
    }

    private void work(int first, int events) throws Exception {
        try (Connection connection = rig.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            for (int number = first; number < events; number += connections) {
                each.in(connection, number);
                connection.commit();
            }
        }
    }
}
