// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static io.postrider.kafka.Topics.await;
import static io.postrider.kafka.Topics.event;
import static io.postrider.kafka.Topics.failure;
import static io.postrider.kafka.Topics.settings;
import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.relay.DestinationDownException;
import io.postrider.relay.PublishException;
import io.postrider.testkit.KafkaServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A topic that nobody has created must cost the others nothing. */
class UnknownTopicTest {
    private static final KafkaServer kafka = SharedBroker.KAFKA;

    @Test
    void an_unknown_topic_delays_neither_the_caller_nor_other_topics_and_is_served_once_it_exists() {
        kafka.createTopic("known", 1);
        Map<String, Object> settings = settings(kafka);
        settings.put("max.block.ms", "25000");

        try (KafkaPublisher publisher = KafkaPublisher.create(settings)) {
            // More unknown topics than a pool of probing threads would have.
            List<? extends CompletionStage<?>> waiting = IntStream.range(0, 20)
                    .mapToObj(i -> publisher.publish(event("late-" + i % 10, i)))
                    .toList();
            IntStream.range(0, 1000)
                    .mapToObj(i -> publisher.publish(event("known", i)))
                    .toList()
                    .forEach(Topics::await);
            assertThat(waiting).noneMatch(answer -> answer.toCompletableFuture().isDone());

            kafka.createTopic("late-3", 1);

            await(waiting.get(3));
            await(waiting.get(13));
            assertThat(waiting.get(4).toCompletableFuture()).isNotDone();
        }
    }

    @Test
    void an_unknown_topic_is_the_destinations_fault_and_is_probed_again_at_the_next_event() {
        Map<String, Object> settings = settings(kafka);
        settings.put("max.block.ms", "300");

        try (KafkaPublisher publisher = KafkaPublisher.create(settings)) {
            for (int i = 0; i < 2; i++) {
                int number = i;
                PublishException failure =
                        Topics.failureOnceHeardOf(() -> publisher.publish(event("forgotten", number)));
                assertThat(failure)
                        .isInstanceOf(DestinationDownException.class)
                        .hasMessage("Topic forgotten could not be written to for PT0.3S: the broker does not know it."
                                + " Create the topic, or map the stream to another one.");
                assertThat(failure.code()).isEqualTo("UNKNOWN_TOPIC");
            }

            kafka.createTopic("forgotten", 1);

            // The client may still hold the old answer for a moment.
            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> publisher
                            .publish(event("forgotten", 3))
                            .toCompletableFuture()
                            .handle((where, error) -> error == null)
                            .join());
        }
    }

    @Test
    void a_topic_that_was_deleted_is_unknown_once_the_client_has_heard_of_it() throws Exception {
        kafka.createTopic("deleted", 1);
        kafka.createTopic("kept", 1);
        Map<String, Object> settings = settings(kafka);
        settings.put("max.block.ms", "3000");

        try (KafkaPublisher publisher = KafkaPublisher.create(settings);
                Admin admin = Admin.create(settings(kafka))) {
            await(publisher.publish(event("deleted", 1)));
            admin.deleteTopics(List.of("deleted")).all().get(30, TimeUnit.SECONDS);

            // Until then a send is taken, and stays without an answer unless the broker has not yet heard of it itself.
            List<CompletionStage<?>> answers = new ArrayList<>();
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> {
                answers.add(publisher.publish(event("deleted", 2)));
                await(publisher.publish(event("kept", 2)));
                return answers.stream()
                        .filter(answer -> answer.toCompletableFuture().isCompletedExceptionally())
                        .anyMatch(answer -> failure(answer).code().equals("UNKNOWN_TOPIC"));
            });
        }
    }

    @Test
    void brokers_that_cannot_be_reached_are_told_from_a_topic_that_is_missing() {
        try (KafkaPublisher publisher =
                KafkaPublisher.create(Map.of("bootstrap.servers", "127.0.0.1:9", "max.block.ms", "300"))) {
            PublishException failure = failure(publisher.publish(event("orders", 1)));

            assertThat(failure)
                    .isInstanceOf(DestinationDownException.class)
                    .hasMessage(
                            "Topic orders could not be written to for PT0.3S: no broker said where it is. Check that"
                                    + " bootstrap.servers is reachable.");
            assertThat(failure.code()).isEqualTo("NO_METADATA");
        }
    }

    @Test
    void a_full_buffer_makes_sends_wait_and_not_fail() {
        kafka.createTopic("many", 64);
        Map<String, Object> settings = settings(kafka);
        settings.put("buffer.memory", String.valueOf(1024 * 1024)); // eight batches

        try (KafkaPublisher publisher = KafkaPublisher.create(settings)) {
            IntStream.range(0, 300)
                    .mapToObj(i -> publisher.publish(event("many", i)))
                    .toList()
                    .forEach(Topics::await);
        }

        assertThat(Topics.read(kafka, "many")).hasSize(300);
    }
}
