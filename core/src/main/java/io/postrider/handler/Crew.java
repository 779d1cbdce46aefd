// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Runs no more tasks at once than it may, whatever its executor would; the others wait in their order. Thread-safe. */
final class Crew {
    private final Executor executor;
    private final int most;
    private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
    private int busy;

    Crew(Executor executor, int most) {
        this.executor = executor;
        this.most = most;
    }

    /**
     * @param task never throws
     * @throws RejectedExecutionException if the executor takes nothing
     */
    void submit(Runnable task) {
        synchronized (this) {
            if (busy == most) {
                waiting.add(task);
                return;
            }
            busy++;
        }
        try {
            executor.execute(() -> work(task));
        } catch (RejectedExecutionException e) {
            freed();
            throw e;
        }
    }

    private void work(Runnable first) {
        Runnable task = first;
        while (task != null) {
            task.run();
            task = next();
        }
    }

    private synchronized @Nullable Runnable next() {
        Runnable next = waiting.poll();
        if (next == null) {
            freed();
        }
        return next;
    }

    private synchronized void freed() {
        busy--;
        notifyAll();
    }

    /** Waits until nothing runs; returns whether it came to that. */
    synchronized boolean awaitIdle(long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        while (busy > 0) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return true;
    }
}
