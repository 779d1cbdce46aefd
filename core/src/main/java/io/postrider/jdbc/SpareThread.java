// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A thread that is there while it has something to do, one thing after the other, and a little longer. Thread-safe. */
final class SpareThread implements Executor {
    private static final Duration IDLE = Duration.ofSeconds(10);

    private final ThreadPoolExecutor pool;

    private SpareThread(ThreadPoolExecutor pool) {
        this.pool = pool;
    }

    static SpareThread of(String name) {
        return of(name, () -> {});
    }

    /** @param atEnd run by the thread whenever it ends */
    static SpareThread of(String name, Runnable atEnd) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                1, 1, IDLE.toMillis(), TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), work -> {
                    Runnable whole = () -> {
                        try {
                            work.run();
                        } finally {
                            atEnd.run();
                        }
                    };
                    Thread thread = new Thread(whole, "postrider-" + name);
                    // A loop waits for it, and it for nobody.
                    thread.setDaemon(true);
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
        return new SpareThread(pool);
    }

    @Override
    public void execute(Runnable work) {
        pool.execute(work);
    }

    /** It gets nothing more, and ends when it has done what it got. */
    void end() {
        pool.shutdown();
    }
}
