// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProducerSettingsTest {
    private static final Duration HALF_MINUTE = Duration.ofSeconds(30);
    private static final int PAYLOAD = ProducerSettings.DEFAULT_MAX_PAYLOAD;

    @Test
    void the_defaults_are_safe_and_fast() {
        Map<String, Object> settings = checked(Map.of()).asMap();

        assertThat(settings)
                .containsEntry("acks", "all")
                .containsEntry("enable.idempotence", "true")
                .containsEntry("max.in.flight.requests.per.connection", "1")
                .containsEntry("linger.ms", "0")
                .containsEntry("batch.size", "131072")
                .containsEntry("delivery.timeout.ms", "2147483647")
                .containsEntry("retries", "2147483647")
                .containsEntry("request.timeout.ms", "6000")
                .containsEntry("reconnect.backoff.max.ms", "500")
                .containsEntry("max.block.ms", "0")
                .containsEntry("metadata.max.idle.ms", "86400000")
                .containsEntry("max.request.size", "1048576")
                .containsEntry("buffer.memory", "33554432")
                .doesNotContainKey("compression.type");
    }

    @Test
    void settings_are_checked_without_a_broker_or_a_name() {
        Map<String, String> good = Map.of("bootstrap.servers", "no-such-host.invalid:9092");
        assertThatCode(() -> KafkaPublisher.builder(good).check()).doesNotThrowAnyException();
        Map<String, String> unsafe = Map.of("bootstrap.servers", "localhost:1", "acks", "1");
        assertThatThrownBy(() -> KafkaPublisher.builder(unsafe).check()).hasMessageContaining("acks=1 was given");
        Map<String, String> unknown = Map.of("bootstrap.servers", "localhost:1", "compression.type", "rar");
        assertThatThrownBy(() -> KafkaPublisher.builder(unknown).check())
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("compression.type");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    acks                                  | 1     | all       | an event that only one broker has can be lost with it
                    acks                                  | 0     | all       | an event that only one broker has can be lost with it
                    enable.idempotence                    | false | true      | a repeated request could write an event twice
                    max.in.flight.requests.per.connection | 6     | 5 or less | more can change the order
                    delivery.timeout.ms                   | 120000 | 2147483647 | a record given up by the client can be overtaken by a later one; use sendTimeout
                    retries                               | 3     | 2147483647 | a record given up by the client can be overtaken by a later one; use sendTimeout
                    transactional.id                      | tx-1  | none      | several relays share the work without fencing
                    partitioner.ignore.keys               | true  | false     | events of one key would be scattered over partitions and lose their order
                    key.serializer   | org.example.Text | org.apache.kafka.common.serialization.ByteArraySerializer | events are sent as they were stored
                    value.serializer | org.example.Text | org.apache.kafka.common.serialization.ByteArraySerializer | events are sent as they were stored
                    """)
    void an_unsafe_setting_is_refused_and_both_values_are_named(String name, String given, String needed, String why) {
        assertThatThrownBy(() -> checked(Map.of(name, given)))
                .isInstanceOf(OutboxException.class)
                .hasMessage(name + "=" + given + " was given, but Postrider needs " + name + "=" + needed + ", because "
                        + why + ": remove the setting.");
    }

    @Test
    void an_unsafe_setting_is_refused_in_whatever_type_it_comes() {
        assertThatThrownBy(() -> checked(Map.of("max.in.flight.requests.per.connection", 10)))
                .hasMessageStartingWith("max.in.flight.requests.per.connection=10 was given");
        assertThatThrownBy(() -> checked(Map.of("enable.idempotence", false)))
                .hasMessageStartingWith("enable.idempotence=false was given");
        assertThatThrownBy(() -> checked(Map.of("value.serializer", StringSerializer.class)))
                .hasMessageStartingWith("value.serializer=" + StringSerializer.class.getName() + " was given");
        assertThatThrownBy(() -> checked(Map.of("partitioner.class", RoundRobinPartitioner.class)))
                .hasMessageStartingWith("partitioner.class=" + RoundRobinPartitioner.class.getName() + " was given");
        assertThatThrownBy(() -> checked(Map.of("linger.ms", "soon")))
                .hasMessage("linger.ms=soon was given, but it must be a whole number.");
    }

    @Test
    void what_is_given_as_we_need_it_is_accepted() {
        Map<String, Object> same = Map.of(
                "acks",
                "-1",
                "enable.idempotence",
                true,
                "max.in.flight.requests.per.connection",
                1,
                "compression.type",
                "lz4",
                "linger.ms",
                5L,
                "retries",
                Integer.MAX_VALUE);

        assertThat(checked(same).asMap())
                .containsEntry("acks", "all")
                .containsEntry("max.in.flight.requests.per.connection", 1)
                .containsEntry("compression.type", "lz4")
                .containsEntry("linger.ms", 5L);
    }

    @Test
    void times_that_contradict_the_send_timeout_are_refused_and_both_are_named() {
        assertThatThrownBy(() -> checked(Map.of("request.timeout.ms", "30000")))
                .hasMessage("request.timeout.ms=30000 was given, but sendTimeout is 30000 ms, and one request must be"
                        + " able to fail and be repeated within it: lower request.timeout.ms or raise sendTimeout.");
        assertThatThrownBy(() -> checked(Map.of("max.block.ms", 60_000)))
                .hasMessage("max.block.ms=60000 was given, but sendTimeout is 30000 ms, and a send that waits for its"
                        + " topic must be answered within it: lower max.block.ms or raise sendTimeout.");
        assertThatThrownBy(() -> ProducerSettings.of(given(Map.of()), Duration.ofMillis(50), PAYLOAD))
                .hasMessage("sendTimeout=PT0.05S was given, but Kafka needs at least PT0.1S to answer: raise"
                        + " sendTimeout.");
    }

    @Test
    void a_short_send_timeout_shortens_the_times_within_it() {
        ProducerSettings settings = ProducerSettings.of(given(Map.of()), Duration.ofSeconds(2), PAYLOAD);

        assertThat(settings.asMap()).containsEntry("request.timeout.ms", "1000");
        assertThat(settings.metadataWait()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void the_wait_for_an_unknown_topic_is_the_max_block_that_was_given() {
        ProducerSettings settings = checked(Map.of("max.block.ms", "1500"));

        assertThat(settings.metadataWait()).isEqualTo(Duration.ofMillis(1500));
        assertThat(settings.asMap()).containsEntry("max.block.ms", "0");
    }

    @Test
    void a_larger_payload_makes_larger_requests_and_a_larger_buffer() {
        Map<String, Object> settings = ProducerSettings.of(given(Map.of()), HALF_MINUTE, 10 * 1024 * 1024)
                .asMap();

        assertThat(settings)
                .containsEntry("max.request.size", String.valueOf(10 * 1024 * 1024 + 124 * 1024))
                .containsEntry("buffer.memory", String.valueOf(8 * (10 * 1024 * 1024 + 124 * 1024)));
    }

    @Test
    void sizes_that_contradict_each_other_are_refused_and_both_are_named() {
        assertThatThrownBy(() -> checked(Map.of("max.request.size", "500000")))
                .hasMessage("max.request.size=500000 was given, but maxPayload is 921600 bytes, which needs 1048576"
                        + " with key and headers: raise max.request.size or lower maxPayload.");
        assertThatThrownBy(() -> checked(Map.of("buffer.memory", "1000000")))
                .hasMessage("buffer.memory=1000000 was given, but max.request.size is 1048576, and one request must"
                        + " fit: raise buffer.memory.");
        assertThatThrownBy(() -> ProducerSettings.of(given(Map.of()), HALF_MINUTE, 0))
                .hasMessage("maxPayload=0 was given, but it must be between 1 and 134217727 bytes.");
    }

    @Test
    void the_brokers_address_is_needed() {
        assertThatThrownBy(() -> KafkaPublisher.create(new Properties()))
                .hasMessage("bootstrap.servers is missing: give the addresses of your Kafka brokers, such as"
                        + " bootstrap.servers=kafka-1:9092,kafka-2:9092.");
    }

    @Test
    void a_topic_name_that_kafka_does_not_allow_is_refused() {
        KafkaPublisher.Builder builder = KafkaPublisher.builder(given(Map.of()));

        assertThatThrownBy(() -> builder.topic("order-events", "order events"))
                .hasMessage("topic=order events was given, but Kafka allows only topic names of 1 to 249 of a-z, A-Z,"
                        + " 0-9, '.', '_' and '-': rename it.");
        assertThatThrownBy(() -> builder.deadLetterTopic("..")).hasMessageStartingWith("deadLetterTopic=.. was given");
    }

    @Test
    void default_properties_count_as_well() {
        Properties defaults = new Properties();
        defaults.setProperty("acks", "1");
        Properties settings = new Properties(defaults);
        settings.setProperty("bootstrap.servers", "127.0.0.1:9");

        assertThatThrownBy(() -> KafkaPublisher.create(settings)).hasMessageStartingWith("acks=1 was given");
    }

    private static ProducerSettings checked(Map<String, Object> settings) {
        return ProducerSettings.of(given(settings), HALF_MINUTE, PAYLOAD);
    }

    private static Map<String, Object> given(Map<String, Object> settings) {
        Map<String, Object> all = new HashMap<>(settings);
        all.put("bootstrap.servers", "127.0.0.1:9");
        return all;
    }
}
