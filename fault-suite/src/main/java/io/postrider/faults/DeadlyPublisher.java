// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.OutboxEvent;
import io.postrider.relay.Publisher;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** Ends this JVM at once when it is given an event of this type, as one that takes all memory would. Thread-safe. */
public final class DeadlyPublisher implements Publisher {
    private final Publisher publisher;
    private final String type;

    public DeadlyPublisher(Publisher publisher, String type) {
        this.publisher = publisher;
        this.type = type;
    }

    @Override
    public CompletionStage<?> publish(OutboxEvent event) {
        return publish(event, publisher::publish);
    }

    @Override
    public Optional<Run> run() {
        return publisher.run().map(run -> event -> publish(event, run));
    }

    private CompletionStage<?> publish(OutboxEvent event, Run run) {
        if (event.type().equals(type)) {
            Runtime.getRuntime().halt(137);
        }
        return run.publish(event);
    }

    @Override
    public void close() {
        publisher.close();
    }
}
