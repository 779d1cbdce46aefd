// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.OutboxEvent;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

/** How many sends of one relay of this process have no answer yet, at most. Thread-safe. */
final class UnderWay implements Publisher {
    private final Publisher publisher;
    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    private UnderWay(Publisher publisher) {
        this.publisher = publisher;
    }

    /** Starts the relay; ended with the rig. */
    static UnderWay start(Rig rig, RelaySetup setup) {
        UnderWay sends = new UnderWay(KafkaPublisher.create(Map.of("bootstrap.servers", rig.bootstrapServers())));
        Relay relay = rig.closing(RelayProcess.relay(setup, Trap.counting(), new RelayListener() {}, sends));
        relay.start();
        return sends;
    }

    @Override
    public CompletionStage<?> publish(OutboxEvent event) {
        return publish(event, publisher::publish);
    }

    @Override
    public Optional<Run> run() {
        return publisher.run().map(run -> event -> publish(event, run));
    }

    @Override
    public Traits traits() {
        return publisher.traits();
    }

    private CompletionStage<?> publish(OutboxEvent event, Run run) {
        most.accumulateAndGet(now.incrementAndGet(), Math::max);
        // Also one that failed is not under way any more.
        return run.publish(event).whenComplete((result, failure) -> now.decrementAndGet());
    }

    @Override
    public void close() {
        publisher.close();
    }

    int most() {
        return most.get();
    }
}
