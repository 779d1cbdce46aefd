// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static io.postrider.kafka.Topics.await;
import static io.postrider.kafka.Topics.event;
import static io.postrider.kafka.Topics.failure;
import static io.postrider.kafka.Topics.headers;
import static io.postrider.kafka.Topics.readOnly;
import static io.postrider.kafka.Topics.settings;
import static io.postrider.kafka.Topics.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.relay.DestinationDownException;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.PublishException;
import io.postrider.relay.RetryableFailureException;
import io.postrider.testkit.KafkaServer;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class KafkaPublisherTest {
    private static final KafkaServer kafka = SharedBroker.KAFKA;

    @Test
    void a_record_has_the_events_key_payload_and_headers_and_nothing_else() {
        kafka.createTopic("exact", 3);
        UUID id = UUID.fromString("01890a5d-ac96-774b-bcce-b302099a8057");
        OutboxEvent event = OutboxEvent.of("exact", "OrderPlaced")
                .id(id)
                .aggregate("Order", "o-ü-1")
                .occurredAt(Instant.parse("2026-03-01T10:15:30.5Z"))
                .header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
                .header("X-Correlation-ID", "ä")
                .header("empty", "")
                .json("{\"total\": 12.30}")
                .build();
        long before = System.currentTimeMillis();

        try (KafkaPublisher publisher = KafkaPublisher.create(settings(kafka))) {
            await(publisher.publish(event));
        }

        ConsumerRecord<byte[], byte[]> record = readOnly(kafka, "exact");
        assertThat(text(record.key())).isEqualTo("o-ü-1");
        assertThat(text(record.value())).isEqualTo("{\"total\": 12.30}");
        assertThat(headers(record))
                .containsExactly(
                        Map.entry("postrider-event-id", id.toString()),
                        Map.entry("postrider-event-type", "OrderPlaced"),
                        Map.entry("postrider-aggregate-type", "Order"),
                        Map.entry("postrider-aggregate-id", "o-ü-1"),
                        Map.entry("postrider-occurred-at", "2026-03-01T10:15:30.500Z"),
                        Map.entry("content-type", "application/json"),
                        Map.entry("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
                        Map.entry("X-Correlation-ID", "ä"),
                        Map.entry("empty", ""));
        assertThat(record.timestamp()).isBetween(before, System.currentTimeMillis());
    }

    @Test
    void an_event_that_is_sent_twice_differs_in_nothing_but_its_time() {
        kafka.createTopic("twice", 1);
        OutboxEvent event = event("twice", 1);

        try (KafkaPublisher first = KafkaPublisher.create(settings(kafka));
                KafkaPublisher second = KafkaPublisher.create(settings(kafka))) {
            await(first.publish(event));
            await(second.publish(event));
        }

        List<ConsumerRecord<byte[], byte[]>> records = Topics.read(kafka, "twice");
        assertThat(records).hasSize(2);
        assertThat(records.get(1).key()).isEqualTo(records.get(0).key());
        assertThat(records.get(1).value()).isEqualTo(records.get(0).value());
        assertThat(records.get(1).headers()).isEqualTo(records.get(0).headers());
    }

    @Test
    void a_tombstone_has_a_key_and_no_value() {
        kafka.createTopic("gone", 1, Map.of("cleanup.policy", "compact"));

        try (KafkaPublisher publisher = KafkaPublisher.create(settings(kafka))) {
            await(publisher.publish(OutboxEvent.of("gone", "OrderForgotten")
                    .key("o-1")
                    .tombstone()
                    .build()));
        }

        ConsumerRecord<byte[], byte[]> record = readOnly(kafka, "gone");
        assertThat(text(record.key())).isEqualTo("o-1");
        assertThat(record.value()).isNull();
        assertThat(headers(record))
                .containsOnlyKeys("postrider-event-id", "postrider-event-type", "postrider-occurred-at");
    }

    @Test
    void an_event_without_key_is_a_record_without_key() {
        kafka.createTopic("keyless", 1);

        try (KafkaPublisher publisher = KafkaPublisher.create(settings(kafka))) {
            await(publisher.publish(
                    OutboxEvent.of("keyless", "Ping").text("hello").build()));
        }

        ConsumerRecord<byte[], byte[]> record = readOnly(kafka, "keyless");
        assertThat(record.key()).isNull();
        assertThat(headers(record)).containsEntry("content-type", "text/plain; charset=utf-8");
    }

    @Test
    void events_of_one_key_go_to_one_partition() {
        kafka.createTopic("keyed", 8);

        try (KafkaPublisher publisher = KafkaPublisher.create(settings(kafka))) {
            IntStream.range(0, 50)
                    .mapToObj(i -> publisher.publish(OutboxEvent.of("keyed", "T")
                            .key("the one")
                            .text(" " + i)
                            .build()))
                    .toList()
                    .forEach(Topics::await);
        }

        assertThat(Topics.read(kafka, "keyed").stream()
                        .map(ConsumerRecord::partition)
                        .distinct())
                .hasSize(1);
    }

    @Test
    void the_envelope_travels_as_json() {
        kafka.createTopic("wrapped", 1);
        Properties properties = new Properties();
        properties.putAll(settings(kafka));

        try (KafkaPublisher publisher = KafkaPublisher.builder(properties)
                .format(MessageFormat.envelope())
                .build()) {
            await(publisher.publish(OutboxEvent.of("wrapped", "Ping")
                    .payload(new byte[] {1, 2}, "application/avro")
                    .build()));
        }

        ConsumerRecord<byte[], byte[]> record = readOnly(kafka, "wrapped");
        assertThat(text(record.value())).startsWith("{\"eventId\":\"").endsWith("\"payload\":\"AQI=\"}");
        assertThat(headers(record)).containsEntry("content-type", "application/json");
    }

    @Test
    void streams_are_mapped_to_topics_by_name_or_else_by_function() {
        kafka.createTopic("orders.v1", 1);
        kafka.createTopic("any.OrderPlaced", 1);

        try (KafkaPublisher publisher = KafkaPublisher.builder(settings(kafka))
                .topic("order-events", "orders.v1")
                .topic(event -> "any." + event.type())
                .build()) {
            await(publisher.publish(event("order-events", 1)));
            await(publisher.publish(event("some stream", 2)));
        }

        assertThat(text(readOnly(kafka, "orders.v1").value())).isEqualTo("{\"number\":1}");
        assertThat(text(readOnly(kafka, "any.OrderPlaced").value())).isEqualTo("{\"number\":2}");
    }

    @Test
    void a_mapping_that_fails_fails_only_its_event() {
        kafka.createTopic("mapped", 1);

        try (KafkaPublisher publisher = KafkaPublisher.builder(settings(kafka))
                .topic(event -> switch (event.stream()) {
                    case "null" -> null;
                    case "throws" ->
                        throw new IllegalStateException(event.headers().toString());
                    case "illegal" -> "no spaces please";
                    default -> "mapped";
                })
                .build()) {
            assertThat(failure(publisher.publish(event("null", 1)))).isInstanceOf(RetryableFailureException.class);
            assertThat(failure(publisher.publish(event("throws", 1))))
                    .isInstanceOf(RetryableFailureException.class)
                    .hasMessageContaining("IllegalStateException at io.postrider.kafka.KafkaPublisherTest");
            PublishException illegal = failure(publisher.publish(event("illegal", 1)));
            assertThat(illegal).isInstanceOf(PermanentFailureException.class);
            assertThat(illegal.code()).isEqualTo("INVALID_TOPIC");
            await(publisher.publish(event("fine", 1)));
        }
    }

    @Test
    void a_dead_letter_carries_the_event_and_what_killed_it() {
        kafka.createTopic("graveyard", 1);
        OutboxEvent event = event("order-events", 7);

        try (KafkaPublisher publisher = KafkaPublisher.builder(settings(kafka))
                .deadLetterTopic("graveyard")
                .build()) {
            await(publisher.publishDead(event, "RECORD_TOO_LARGE", "x".repeat(3000)));
        }

        ConsumerRecord<byte[], byte[]> record = readOnly(kafka, "graveyard");
        assertThat(text(record.key())).isEqualTo("order-7");
        assertThat(record.value()).isEqualTo(event.payload());
        assertThat(headers(record))
                .containsEntry("postrider-event-id", event.id().toString())
                .containsEntry("postrider-stream", "order-events")
                .containsEntry("postrider-error-code", "RECORD_TOO_LARGE")
                .containsEntry("postrider-error-message", "x".repeat(1024));
    }

    @Test
    void a_dead_letter_without_a_topic_for_it_is_refused() {
        try (KafkaPublisher publisher = KafkaPublisher.create(settings(kafka))) {
            assertThatThrownBy(() -> publisher.publishDead(event("order-events", 7), "CODE", "message"))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageStartingWith("No dead-letter topic was set, so event OrderPlaced")
                    .hasMessageEndingWith("cannot be sent to one. Call deadLetterTopic(..) on the builder.");
        }
    }

    @Test
    void an_event_too_large_for_the_client_is_refused_for_good() {
        kafka.createTopic("large", 1);
        OutboxEvent event =
                OutboxEvent.of("large", "Big").text("x".repeat(2_000_000)).build();

        try (KafkaPublisher publisher = KafkaPublisher.create(settings(kafka))) {
            PublishException failure = failure(publisher.publish(event));

            assertThat(failure).isInstanceOf(PermanentFailureException.class);
            assertThat(failure.code()).isEqualTo("RECORD_TOO_LARGE");
            assertThat(failure.getMessage()).contains("2000").doesNotContain("xxx");
        }
    }

    @Test
    void an_event_too_large_for_the_broker_is_refused_for_good_and_others_beside_it_are_not() {
        kafka.createTopic("small", 1, Map.of("max.message.bytes", "2000"));
        OutboxEvent large =
                OutboxEvent.of("small", "Big").text("x".repeat(5_000)).build();

        try (KafkaPublisher publisher = KafkaPublisher.create(settings(kafka))) {
            await(publisher.publish(event("small", 0)));
            var answers = List.of(
                    publisher.publish(event("small", 1)),
                    publisher.publish(large),
                    publisher.publish(event("small", 2)));

            assertThat(failure(answers.get(1))).isInstanceOf(PermanentFailureException.class);
            assertThat(failure(answers.get(1)).code()).isEqualTo("RECORD_TOO_LARGE");
            await(answers.get(0));
            await(answers.get(2));
        }
    }

    @Test
    void the_largest_payload_that_was_promised_goes_through() {
        kafka.createTopic("limit", 1);
        byte[] payload = new byte[900 * 1024];
        Arrays.fill(payload, (byte) 'x');

        try (KafkaPublisher publisher = KafkaPublisher.create(settings(kafka))) {
            await(publisher.publish(OutboxEvent.of("limit", "Big")
                    .aggregate("Order", "k".repeat(512))
                    .header("h", "v".repeat(4096))
                    .payload(payload, "application/octet-stream")
                    .build()));
        }
    }

    @Test
    void an_event_that_the_broker_refuses_for_what_it_is_is_refused_for_good() {
        kafka.createTopic("compacted", 1, Map.of("cleanup.policy", "compact"));

        try (KafkaPublisher publisher = KafkaPublisher.create(settings(kafka))) {
            PublishException failure = failure(publisher.publish(
                    OutboxEvent.of("compacted", "Ping").text("x").build()));

            assertThat(failure).isInstanceOf(PermanentFailureException.class);
            assertThat(failure.code()).isEqualTo("INVALID_RECORD");
        }
    }

    @Test
    void events_whose_time_the_broker_refuses_are_not_at_fault() {
        // None may be older than the millisecond it arrives in, and all wait for each other before they leave.
        kafka.createTopic("clock", 1, Map.of("message.timestamp.before.max.ms", "0"));
        Map<String, Object> settings = new HashMap<>(settings(kafka));
        settings.put("linger.ms", 100);

        try (KafkaPublisher publisher = KafkaPublisher.create(settings)) {
            var answers = IntStream.range(0, 5)
                    .mapToObj(i -> publisher.publish(event("clock", i)))
                    .toList();

            assertThat(answers).allSatisfy(answer -> {
                PublishException failure = failure(answer);
                assertThat(failure).isInstanceOf(DestinationDownException.class);
                assertThat(failure.code()).isEqualTo("INVALID_TIMESTAMP");
                assertThat(failure).hasMessageContaining("out of range").hasMessageContaining("clocks");
            });
        }
    }

    @Test
    void a_client_that_may_not_sign_in_finds_the_destination_down_and_keeps_its_secret() {
        kafka.createTopic("guarded", 1);
        Map<String, Object> settings = settings(kafka);
        settings.put("security.protocol", "SASL_PLAINTEXT"); // the broker speaks PLAINTEXT there
        settings.put("sasl.mechanism", "PLAIN");
        settings.put(
                "sasl.jaas.config",
                "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"bob\""
                        + " password=\"canary-4711\";");
        settings.put("client.id", "guarded");

        try (KafkaPublisher publisher = KafkaPublisher.builder(settings)
                .sendTimeout(Duration.ofSeconds(4))
                .build()) {
            for (int i = 0; i < 3; i++) {
                int number = i;
                PublishException failure = Topics.failureOnceHeardOf(() -> publisher.publish(event("guarded", number)));

                assertThat(failure).isInstanceOf(DestinationDownException.class);
                assertThat(failure).hasMessageNotContaining("canary").hasNoCause();
                assertThat(failure.code()).isEqualTo("AUTHENTICATION");
            }
            Awaitility.await().until(() -> Topics.threads("guarded").size() <= 1);
        }
    }

    @Test
    void a_closed_publisher_takes_nothing_and_leaves_no_thread() {
        kafka.createTopic("closing", 1);
        Map<String, Object> settings = settings(kafka);
        settings.put("client.id", "closing");
        KafkaPublisher publisher = KafkaPublisher.create(settings);
        var underWay = IntStream.range(0, 500)
                .mapToObj(i -> publisher.publish(event("closing", i)))
                .toList();
        assertThat(Topics.threads("closing")).hasSize(1);

        publisher.close();
        publisher.close();

        underWay.forEach(answer -> assertThat(answer.toCompletableFuture()).isDone());
        assertThat(failure(publisher.publish(event("closing", 0))).code()).isEqualTo("CLOSED");
        assertThat(Topics.threads("closing")).isEmpty();
        assertThat(Topics.ownThreads()).isEmpty();
    }
}
