// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Work in a thread of its own, which may stand still for a lock until the test goes on. */
final class Background<T> {
    private final CompletableFuture<T> result = new CompletableFuture<>();

    static <T> Background<T> start(Callable<T> work) {
        Background<T> background = new Background<>();
        Thread thread = new Thread(() -> {
            try {
                background.result.complete(work.call());
            } catch (Throwable e) {
                background.result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return background;
    }

    boolean isDone() {
        return result.isDone();
    }

    /** Waits for its end. */
    boolean succeeds() throws InterruptedException, TimeoutException {
        return failure().isEmpty();
    }

    /** Waits for its end, and returns what it threw, if it did. */
    Optional<Throwable> failure() throws InterruptedException, TimeoutException {
        try {
            get();
            return Optional.empty();
        } catch (ExecutionException e) {
            return Optional.ofNullable(e.getCause());
        }
    }

    T get() throws InterruptedException, ExecutionException, TimeoutException {
        return result.get(30, TimeUnit.SECONDS);
    }
}
