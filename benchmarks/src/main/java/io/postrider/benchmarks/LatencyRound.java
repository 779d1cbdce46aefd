// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.OutboxEvent;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** Commits transactions at a steady pace and measures how long after its commit a consumer sees each event. */
final class LatencyRound implements Variant {
    static final String METRIC = "p50_ms";
    private static final int PAYLOAD_BYTES = 512;
    static final int KEYS = 1_000;
    static final int WARM_UP_FASTER = 5;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Rig rig;
    private final Carrier carrier;
    private final int rate;
    private boolean warm;

    /** @param rate events per second */
    LatencyRound(Rig rig, Carrier carrier, int rate) {
        this.rig = rig;
        this.carrier = carrier;
        this.rate = rate;
    }

    @Override
    public String name() {
        return carrier.name();
    }

    /**
     * The first round goes five times as fast, so that the compilers of all JVMs are done before the others. What comes first in
     * each is not counted, a second at most: connections, plans and caches are new.
     */
    @Override
    public Map<String, Double> round(int events) throws Exception {
        int pace = warm ? rate : rate * WARM_UP_FASTER;
        warm = true;
        try (Listener listener = new Listener(rig.bootstrapServers())) {
            carrier.open();
            commit(Math.min(pace, events), pace);
            Cpu.Reading before = rig.cpu().read();
            Map<String, Long> committedAt = commit(events, pace);
            Map<String, Double> cores = Cpu.cores(before, rig.cpu().read());
            double[] millis = millis(committedAt, listener);
            Map<String, Double> measured = new LinkedHashMap<>();
            measured.put(METRIC, Numbers.percentile(millis, 0.50));
            measured.put("p99_ms", Numbers.percentile(millis, 0.99));
            measured.put(Results.OTHER_LOAD, cores.getOrDefault(Results.OTHER_LOAD, Double.NaN));
            return measured;
        } finally {
            carrier.close();
        }
    }

    @Override
    public void close() {
        carrier.end();
    }

    private Map<String, Long> commit(int events, int pace) throws Exception {
        Map<String, Long> committedAt = new LinkedHashMap<>();
        try (Connection connection = rig.dataSource().getConnection();
                PreparedStatement business = connection.prepareStatement(Business.INSERT)) {
            connection.setAutoCommit(false);
            long interval = Duration.ofSeconds(1).toNanos() / pace;
            long next = System.nanoTime();
            for (int i = 0; i < events; i++) {
                for (long left = next - System.nanoTime(); left > 0; left = next - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                next += interval;
                OutboxEvent event = Business.event("order-" + i % KEYS, new byte[PAYLOAD_BYTES]);
                Business.bind(business, i);
                business.executeUpdate();
                carrier.beforeCommit(connection, event);
                connection.commit();
                committedAt.put(event.id().toString(), System.nanoTime());
                carrier.afterCommit(event);
            }
        }
        return committedAt;
    }

    private static double[] millis(Map<String, Long> committedAt, Listener listener) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!listener.seenAt().keySet().containsAll(committedAt.keySet())) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("Some of " + committedAt.size() + " events never arrived");
            }
            Thread.sleep(10);
        }
        return committedAt.entrySet().stream()
                .mapToDouble(
                        each -> (listener.seenAt().getOrDefault(each.getKey(), Long.MAX_VALUE) - each.getValue()) / 1e6)
                .sorted()
                .toArray();
    }
}
