// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit.contract;

import io.postrider.relay.Publisher;
import io.postrider.testkit.RecordingPublisher;
import java.time.Duration;
import java.util.List;

class RecordingPublisherContractTest extends PublisherContract {
    private final RecordingPublisher publisher = new RecordingPublisher();

    @Override
    protected Publisher publisher() {
        return publisher;
    }

    @Override
    protected List<Received> received(int atLeast) {
        publisher.awaitCount(atLeast, Duration.ofSeconds(20));
        return publisher.deliveries().stream()
                .map(RecordingPublisher.Delivery::event)
                .map(event -> Received.of(event.stream(), event.key().orElse(null), event.payload(), event.headers()))
                .toList();
    }
}
