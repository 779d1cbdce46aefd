// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/** Kills a worker with kill -9 and starts it again, one after the other, until it is closed. */
final class Chaos implements AutoCloseable {
    private static final long LONGEST_PEACE_MILLIS = 1_500;

    private final List<WorkerProcess> workers;
    private final Random random = new Random();
    private final Thread thread = new Thread(this::run, "chaos");
    private volatile boolean over;
    private final AtomicInteger kills = new AtomicInteger();

    private Chaos(List<WorkerProcess> workers) {
        this.workers = workers;
    }

    static Chaos start(List<WorkerProcess> workers) {
        Chaos chaos = new Chaos(workers);
        chaos.thread.start();
        return chaos;
    }

    int kills() {
        return kills.get();
    }

    private void run() {
        try {
            do {
                Thread.sleep(random.nextLong(LONGEST_PEACE_MILLIS));
                WorkerProcess worker = workers.get(random.nextInt(workers.size()));
                worker.kill();
                kills.incrementAndGet();
                worker.start();
                worker.awaitReady();
            } while (!over);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns when all that was killed runs again. */
    @Override
    public void close() {
        over = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
