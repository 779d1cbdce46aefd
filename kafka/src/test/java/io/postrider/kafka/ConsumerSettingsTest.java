// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxException;
import io.postrider.handler.Handlers;
import io.postrider.relay.Relay;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConsumerSettingsTest {
    private final Map<String, Object> given = new HashMap<>(Map.of("bootstrap.servers", "nowhere:9", "group.id", "g"));

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "enable.auto.commit | true | enable.auto.commit=true was given, but Postrider needs enable.auto.commit=false,"
                        + " because an event that was received and not yet handled would be lost with the process",
                "auto.offset.reset | latest | auto.offset.reset=latest was given, but Postrider needs"
                        + " auto.offset.reset=earliest or none",
                "value.deserializer | org.apache.kafka.common.serialization.StringDeserializer | but Postrider needs"
                        + " value.deserializer=org.apache.kafka.common.serialization.ByteArrayDeserializer",
                "max.poll.interval.ms | 15000 | handOverTime=PT10S was given, but max.poll.interval.ms is 15000",
                "max.poll.interval.ms | soon | max.poll.interval.ms=soon was given, but it must be a whole number.",
                "group.instance.id | billing-1 | group.instance.id=billing-1 was given, but Postrider needs none, because the"
                        + " consumers of a relay would all have it and shut each other out, and one that stops would keep its"
                        + " partitions from others: remove the setting.",
                "group.id | '' | group.id is missing: give the name that all instances of this service share, such as"
                        + " group.id=billing.",
            })
    void whatLosesEventsIsRefused(String name, String value, String message) {
        given.put(name, value);
        assertThatThrownBy(this::settings).isInstanceOf(OutboxException.class).hasMessageContaining(message.strip());
    }

    @Test
    void theRestReachesTheConsumer() {
        given.put("enable.auto.commit", false);
        given.put("max.poll.records", 7);
        assertThat(settings().asMap())
                .containsEntry("enable.auto.commit", "false")
                .containsEntry("auto.offset.reset", "earliest")
                .containsEntry("session.timeout.ms", "10000")
                .containsEntry("max.poll.records", 7);
        given.put("group.protocol", "consumer");
        assertThat(settings().asMap()).doesNotContainKeys("session.timeout.ms", "partition.assignment.strategy");
        assertThat(settings().sessionTimeout()).isEqualTo(Duration.ofSeconds(45));
        given.put("max.poll.interval.ms", "40000");
        assertThat(settings().sessionTimeout()).isEqualTo(Duration.ofSeconds(40));
    }

    @Test
    void aFeedNeedsStreamsAndAPlaceForItsDead() {
        KafkaFeed.Builder feed = KafkaFeed.builder(given);
        assertThatThrownBy(feed::build)
                .hasMessage("No stream was given, so nothing would be received. Call stream(..).");
        feed.stream("orders");
        assertThatThrownBy(feed::build).hasMessageStartingWith("No dead-letter topic was given");
        feed.deadLetterTopic("orders");
        assertThatThrownBy(feed::build).hasMessageContaining("its events would go in circles");
        feed.deadLetterTopic("orders.dead");
        assertThat(feed.build()).hasToString("KafkaFeed(group g, topics [orders])");
        Handlers handlers = Handlers.builder().otherwise().run(event -> {}).build();
        Relay relay = Relay.from(feed.build()).to(handlers).name("r").build();
        assertThatThrownBy(() -> relay.drain(1))
                .hasMessage("A topic has no end that one pass could reach, so relay r cannot drain it. Start the relay"
                        + " instead.");
    }

    private ConsumerSettings settings() {
        return new ConsumerSettings(given, Duration.ofSeconds(10), 100);
    }
}
