// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.testkit.KafkaServer;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A publisher whose producer is opened when it is needed. */
class LateProducerTest {
    private final KafkaServer kafka = SharedBroker.KAFKA;

    private KafkaPublisher.Builder publisher(String clientId) {
        return KafkaPublisher.builder(Map.of("bootstrap.servers", kafka.bootstrapServers(), "client.id", clientId))
                .opensLater();
    }

    /** A producer has a thread with its name. */
    private static boolean isOpen(String clientId) {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(each -> each.getName().startsWith("kafka-producer-network-thread | " + clientId));
    }

    @Test
    void the_first_event_opens_it_and_arrives() throws Exception {
        kafka.createTopic("late", 1);
        long built = System.nanoTime();
        try (KafkaPublisher publisher = publisher("late-1").build()) {
            boolean open = isOpen("late-1");
            // After a second it is opened without an event too.
            assertThat(open && System.nanoTime() - built < TimeUnit.SECONDS.toNanos(1))
                    .isFalse();
            publisher
                    .publish(
                            OutboxEvent.of("late", "Placed").key("k").json("{}").build())
                    .toCompletableFuture()
                    .get(30, TimeUnit.SECONDS);
            assertThat(isOpen("late-1")).isTrue();
        }
        assertThat(Topics.read(kafka, "late")).hasSize(1);
        assertThat(isOpen("late-1")).isFalse();
    }

    @Test
    void it_is_opened_without_an_event_too() {
        KafkaPublisher publisher = publisher("late-2").build();
        try (publisher) {
            await().until(() -> isOpen("late-2"));
        }
    }

    @Test
    void settings_that_make_no_sense_are_refused_at_once() {
        assertThatThrownBy(() -> KafkaPublisher.builder(
                                Map.of("bootstrap.servers", kafka.bootstrapServers(), "batch.size", "many"))
                        .opensLater()
                        .build())
                .isInstanceOf(OutboxException.class)
                .hasMessageStartingWith("The Kafka producer could not be created: ")
                .hasMessageContaining("batch.size");
    }
}
