// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import io.postrider.relay.Publisher;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A publisher that outlives the relay: it is a bean, closed with the context, and a context may be started again. So a relay that
 * stops has it neither closed nor wrapped up.
 */
record SharedPublisher(Publisher bean) implements Publisher {

    @Override
    public CompletionStage<?> publish(OutboxEvent event) {
        return bean.publish(event);
    }

    @Override
    public CompletionStage<?> deliver(Delivery delivery) {
        return bean.deliver(delivery);
    }

    @Override
    public Traits traits() {
        return bean.traits();
    }

    @Override
    public Optional<Run> run() {
        return bean.run();
    }

    @Override
    public void close() {}
}
