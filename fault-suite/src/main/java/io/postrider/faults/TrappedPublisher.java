// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import io.postrider.relay.Publisher;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A publisher whose sends and answers pass a {@link Trap}. Thread-safe. */
public final class TrappedPublisher implements Publisher {
    private final Publisher publisher;
    private final Trap trap;

    public TrappedPublisher(Publisher publisher, Trap trap) {
        this.publisher = publisher;
        this.trap = trap;
    }

    @Override
    public CompletionStage<?> publish(OutboxEvent event) {
        return publish(event, publisher::publish);
    }

    @Override
    public CompletionStage<?> deliver(Delivery delivery) {
        return publish(delivery.event(), event -> publisher.deliver(delivery));
    }

    @Override
    public Traits traits() {
        return publisher.traits();
    }

    @Override
    public Optional<Run> run() {
        return publisher.run().map(run -> event -> publish(event, run));
    }

    private CompletionStage<?> publish(OutboxEvent event, Run run) {
        CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();
        try {
            long nth = trap.enter(Place.SEND);
            var unused = run.publish(event).whenComplete((result, failure) -> answered(answer, result, failure));
            trap.left(Place.SEND, nth);
        } catch (SQLException e) {
            throw new IllegalStateException("Only statements fail with this", e);
        }
        return answer;
    }

    private void answered(
            CompletableFuture<@Nullable Object> answer, @Nullable Object result, @Nullable Throwable failure) {
        if (failure != null) {
            answer.completeExceptionally(failure);
            return;
        }
        try {
            long nth = trap.enter(Place.ANSWER);
            answer.complete(result);
            trap.left(Place.ANSWER, nth);
        } catch (SQLException e) {
            throw new IllegalStateException("Only statements fail with this", e);
        }
    }

    @Override
    public void close() {
        publisher.close();
    }
}
