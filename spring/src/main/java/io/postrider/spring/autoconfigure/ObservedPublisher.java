// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.ReceiverContext;
import io.postrider.OutboxEvent;
import io.postrider.micrometer.StreamNames;
import io.postrider.relay.Delivery;
import io.postrider.relay.Publisher;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An observation around each send, in the trace in which the event was appended. What is sent is not changed by it.
 *
 * @param names of streams that become names of spans and tags of timers
 */
record ObservedPublisher(Publisher inner, ObservationRegistry registry, StreamNames names) implements Publisher {

    @Override
    public CompletionStage<?> publish(OutboxEvent event) {
        return observed(event, () -> inner.publish(event));
    }

    @Override
    public CompletionStage<?> deliver(Delivery delivery) {
        return observed(delivery.event(), () -> inner.deliver(delivery));
    }

    @Override
    public Optional<Run> run() {
        return inner.run().map(run -> event -> observed(event, () -> run.publish(event)));
    }

    @Override
    public Traits traits() {
        return inner.traits();
    }

    @Override
    public void wrapUp(Duration left) {
        inner.wrapUp(left);
    }

    @Override
    public void close() {
        inner.close();
    }

    private CompletionStage<?> observed(OutboxEvent event, Supplier<CompletionStage<?>> send) {
        // Read like what was received: the trace comes with the event, from another time and perhaps another process.
        ReceiverContext<Map<String, String>> context = new ReceiverContext<>(ObservedPublisher::header, Kind.PRODUCER);
        context.setCarrier(event.headers());
        String stream = names.of(event.stream());
        Observation observation = Observation.createNotStarted("postrider.publish", () -> context, registry)
                .contextualName("publish " + stream)
                .lowCardinalityKeyValue("stream", stream)
                .highCardinalityKeyValue("type", event.type())
                .start();
        CompletionStage<?> answer;
        try {
            answer = observation.scoped(send);
        } catch (RuntimeException e) {
            end(observation, "failed");
            throw e;
        }
        // The engine gets the publisher's own stage: one that depends on it would wrap its failure.
        answer.whenComplete((result, failure) -> {
            if (failure != null) {
                observation.error(failure);
            }
            end(observation, failure == null ? "published" : "failed");
        });
        return answer;
    }

    private static void end(Observation observation, String outcome) {
        observation.lowCardinalityKeyValue("outcome", outcome).stop();
    }

    private static @Nullable String header(Map<String, String> headers, String name) {
        String same = headers.get(name);
        return same != null
                ? same
                : headers.entrySet().stream()
                        .filter(each -> each.getKey().equalsIgnoreCase(name))
                        .map(Map.Entry::getValue)
                        .findFirst()
                        .orElse(null);
    }
}
