// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.OutboxEvent;
import io.postrider.relay.Publisher;
import io.postrider.relay.RetryableFailureException;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Refuses the events of one key once each; only the first of them if that takes a while, so that a test knows which. Thread-safe.
 */
public final class RefusingPublisher implements Publisher {
    private final Publisher publisher;
    private final String key;
    private final Duration after;
    private final Consumer<OutboxEvent> refusing;
    private final Set<UUID> refused = ConcurrentHashMap.newKeySet();

    /** @param refusing told of each event that will be refused, while it waits for that */
    public RefusingPublisher(Publisher publisher, String key, Duration after, Consumer<OutboxEvent> refusing) {
        this.publisher = publisher;
        this.key = key;
        this.after = after;
        this.refusing = refusing;
    }

    @Override
    public CompletionStage<?> publish(OutboxEvent event) {
        boolean enough = !after.isZero() && !refused.isEmpty();
        if (!key.equals(event.key().orElse("")) || enough || !refused.add(event.id())) {
            return publisher.publish(event);
        }
        CompletionStage<?> answer = CompletableFuture.supplyAsync(
                () -> {
                    throw new RetryableFailureException("REFUSED", "Refused by the test", null);
                },
                CompletableFuture.delayedExecutor(after.toMillis(), TimeUnit.MILLISECONDS));
        // Not before the clock runs: whoever hears this may stop the process at once.
        refusing.accept(event);
        return answer;
    }

    @Override
    public void close() {
        publisher.close();
    }
}
