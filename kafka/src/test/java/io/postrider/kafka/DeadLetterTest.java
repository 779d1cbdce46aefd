// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.handler.Handled;
import io.postrider.handler.Handlers;
import io.postrider.relay.Relay;
import io.postrider.testkit.KafkaServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

/** What a feed writes to its dead-letter topic. */
class DeadLetterTest {
    private static final KafkaServer kafka = SharedBroker.KAFKA;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Map<String, String> LARGE = Map.of("max.message.bytes", "4194304");
    private static final String LONG = "x".repeat(2 << 20);

    private final String topic = "letters-" + UUID.randomUUID();
    private final String dead = topic + ".dead";
    private final Map<String, Object> settings = Topics.settings(kafka);

    @Test
    void aLetterSaysWhereItsRecordIs() {
        kafka.createTopic(topic, 1);
        kafka.createTopic(dead, 1);
        publish(event("good").text("a").build(), event("bad").text("b").build());
        handleAll(2);
        ConsumerRecord<byte[], byte[]> letter = Topics.readOnly(kafka, dead);
        assertThat(Topics.text(letter.value())).isEqualTo("b");
        assertThat(Topics.headers(letter))
                .containsEntry("postrider-source-topic", topic)
                .containsEntry("postrider-source-partition", "0")
                .containsEntry("postrider-source-offset", "1")
                .doesNotContainKey("postrider-left-out");
    }

    @Test
    void aRecordThatDoesNotFitIsAmongTheDeadWithoutWhatIsTooLarge() {
        kafka.createTopic(topic, 1, LARGE);
        kafka.createTopic(dead, 1);
        publish(
                event("bad").header("own", "1").text(LONG).build(),
                event("bad").header("own", LONG).text("b").buildStored(),
                event("good").text("c").build());
        handleAll(3);
        List<ConsumerRecord<byte[], byte[]>> letters = Topics.read(kafka, dead);
        assertThat(letters).hasSize(2).allSatisfy(letter -> {
            assertThat(Topics.text(letter.key())).isEqualTo("bad");
            assertThat(letter.value()).isNull();
        });
        assertThat(Topics.headers(letters.get(0)))
                .containsEntry("postrider-left-out", "value")
                .containsEntry("postrider-source-offset", "0")
                .containsEntry("postrider-error-code", "BAD")
                .containsEntry("own", "1");
        assertThat(Topics.headers(letters.get(1)))
                .containsEntry("postrider-left-out", "value, headers")
                .containsEntry("postrider-source-offset", "1")
                .doesNotContainKey("own");
    }

    @Test
    void aLargeRecordIsWholeInATopicThatHasRoomForIt() {
        kafka.createTopic(topic, 1, LARGE);
        kafka.createTopic(dead, 1, LARGE);
        publish(event("bad").text(LONG).build());
        handleAll(1);
        assertThat(Topics.readOnly(kafka, dead).value()).hasSize(LONG.length());
    }

    @Test
    void theSizeOfRequestsIsTheProducersAlone() {
        settings.putAll(Map.of("group.id", topic, "max.request.size", "33554432"));
        assertThat(new ConsumerSettings(settings, Duration.ofSeconds(1), 10).asMap())
                .doesNotContainKey("max.request.size");
        feed().build();
        settings.put("max.request.size", "1000");
        assertThatThrownBy(() -> feed().build())
                .isInstanceOf(OutboxException.class)
                .hasMessageStartingWith("max.request.size=1000 was given");
    }

    private void handleAll(int records) {
        Handlers handlers = Handlers.builder()
                .on(topic, "T")
                .handle((event, context) ->
                        event.key().orElseThrow().equals("bad") ? Handled.failed("BAD", "never") : Handled.done())
                .build();
        settings.putAll(Map.of("group.id", topic, "heartbeat.interval.ms", "200"));
        try (Relay relay = Relay.from(feed().build()).to(handlers).build()) {
            relay.start();
            await().atMost(PATIENCE).until(() -> committed() == records);
        }
    }

    private KafkaFeed.Builder feed() {
        return KafkaFeed.builder(settings).stream(topic).deadLetterTopic(dead);
    }

    private OutboxEvent.Builder event(String key) {
        return OutboxEvent.of(topic, "T").key(key);
    }

    private static void publish(OutboxEvent... events) {
        try (KafkaPublisher publisher = KafkaPublisher.builder(Topics.settings(kafka))
                .maxPayload(3 << 20)
                .build()) {
            for (OutboxEvent event : events) {
                Topics.await(publisher.publish(event));
            }
        }
    }

    private long committed() throws Exception {
        try (Admin admin = Admin.create(Topics.settings(kafka))) {
            return admin.listConsumerGroupOffsets(topic).partitionsToOffsetAndMetadata().get().values().stream()
                    .mapToLong(offset -> offset.offset())
                    .sum();
        }
    }
}
