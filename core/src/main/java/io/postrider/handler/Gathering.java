// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

import io.postrider.relay.Delivery;
import io.postrider.relay.DestinationDownException;
import io.postrider.relay.UnknownOutcomeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Makes batches for one handler of what comes while others are being handled. Where a batch fails, each of its events is
 * handled alone, so that one that cannot be handled keeps nobody else back. Thread-safe.
 */
final class Gathering {
    private record Waiting(Delivery delivery, CompletableFuture<@Nullable Object> answer) {
        void answer(@Nullable Object result, @Nullable Throwable failure) {
            if (failure == null) {
                answer.complete(result);
            } else {
                answer.completeExceptionally(failure);
            }
        }
    }

    private final Route.Bound route;
    private final Desk desk;
    private final Queue<Waiting> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean called = new AtomicBoolean();

    Gathering(Route.Bound route, Desk desk) {
        this.route = route;
        this.desk = desk;
    }

    CompletionStage<?> add(Delivery delivery) {
        Waiting waiting = new Waiting(delivery, new CompletableFuture<>());
        queue.add(waiting);
        call();
        return waiting.answer;
    }

    private void call() {
        if (!called.getAndSet(true)) {
            try {
                desk.submit(this::handleBatch);
            } catch (RuntimeException e) {
                called.set(false);
                Waiting next;
                while ((next = queue.poll()) != null) {
                    next.answer.completeExceptionally(e);
                }
            }
        }
    }

    private void handleBatch() {
        called.set(false);
        List<Waiting> batch = new ArrayList<>();
        Waiting next;
        while (batch.size() < route.handler().most() && (next = queue.poll()) != null) {
            batch.add(next);
        }
        if (!queue.isEmpty()) {
            call();
        }
        if (batch.size() == 1) {
            handleAlone(batch.get(0));
        } else if (!batch.isEmpty()) {
            handleTogether(batch);
        }
    }

    private void handleTogether(List<Waiting> batch) {
        List<Delivery> deliveries = batch.stream().map(Waiting::delivery).toList();
        Thread handling = Thread.currentThread();
        desk.make(route, deliveries, (result, failure) -> {
            // One that does not come back is given up by another thread.
            if (failure == null || concernsAll(failure) || Thread.currentThread() != handling) {
                batch.forEach(each -> each.answer(result, failure));
            }
        });
        batch.stream().filter(each -> !each.answer.isDone()).forEach(this::handleAlone);
    }

    /** Nothing is better for one alone where the destination takes nothing, and what is unknown must not be repeated. */
    private static boolean concernsAll(Throwable failure) {
        return failure instanceof DestinationDownException || failure instanceof UnknownOutcomeException;
    }

    private void handleAlone(Waiting one) {
        desk.make(route, List.of(one.delivery), one::answer);
    }
}
