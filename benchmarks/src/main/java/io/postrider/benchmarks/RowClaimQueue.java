// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** {@link RowClaimBacklog} without a broker: claims a batch, reads it, and marks it as published. */
final class RowClaimQueue implements Backlog {
    private final Rig rig;

    RowClaimQueue(Rig rig) {
        this.rig = rig;
        RowClaimBacklog.makeTable(rig);
    }

    @Override
    public String name() {
        return "row-claim";
    }

    @Override
    public String[] tables() {
        return new String[] {"row_claim"};
    }

    @Override
    public String countLeft() {
        return RowClaimBacklog.COUNT_LEFT;
    }

    @Override
    public long drain(int events) throws Exception {
        long start = System.nanoTime();
        ExecutorService threads = Executors.newFixedThreadPool(RowClaimBacklog.THREADS);
        try {
            List<Future<?>> workers = new ArrayList<>();
            for (int i = 0; i < RowClaimBacklog.THREADS; i++) {
                String worker = "worker-" + i;
                workers.add(threads.submit(() -> {
                    work(worker);
                    return null;
                }));
            }
            for (Future<?> each : workers) {
                each.get();
            }
            return System.nanoTime() - start;
        } finally {
            threads.shutdown();
        }
    }

    private void work(String worker) throws Exception {
        try (Connection connection = rig.dataSource().getConnection();
                PreparedStatement claim = connection.prepareStatement(RowClaimBacklog.CLAIM);
                PreparedStatement published = connection.prepareStatement(RowClaimBacklog.PUBLISHED)) {
            claim.setInt(1, RowClaimBacklog.BATCH);
            claim.setString(2, worker);
            List<Long> ids = new ArrayList<>();
            while (!RowClaimBacklog.claim(claim, ids).isEmpty()) {
                published.setArray(1, connection.createArrayOf("int8", ids.toArray()));
                published.executeUpdate();
            }
        }
    }
}
