// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxException;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.DefaultResourceLoader;

class KafkaSettingsTest {

    private static Map<String, Object> read(Map<String, Object> environment, @Nullable String servers, String... own) {
        StandardEnvironment given = new StandardEnvironment();
        given.getPropertySources().addFirst(new MapPropertySource("test", environment));
        Map<String, String> properties = own.length == 0 ? Map.of() : Map.of(own[0], own[1]);
        return new KafkaSettings(given, new DefaultResourceLoader())
                .read(new PostriderProperties.Kafka(
                        servers, Duration.ofSeconds(30), null, PostriderProperties.Format.RAW, null, properties));
    }

    @Test
    void addresses_and_security_are_taken_and_how_others_produce_is_not() {
        assertThat(read(
                        Map.of(
                                "spring.kafka.bootstrap-servers", "a:1, b:2",
                                "spring.kafka.properties.sasl.mechanism", "PLAIN",
                                "spring.kafka.properties.linger.ms", "50",
                                "spring.kafka.producer.acks", "1",
                                "spring.kafka.producer.properties.enable.idempotence", "false",
                                "spring.kafka.producer.properties.sasl.jaas.config", "login",
                                "spring.kafka.security.protocol", "SASL_SSL"),
                        null))
                .containsOnly(
                        Map.entry("bootstrap.servers", "a:1,b:2"),
                        Map.entry("sasl.mechanism", "PLAIN"),
                        Map.entry("sasl.jaas.config", "login"),
                        Map.entry("security.protocol", "SASL_SSL"));
    }

    @Test
    void what_is_said_of_producers_goes_before_what_is_said_of_all_and_our_own_before_both() {
        Map<String, Object> both =
                Map.of("spring.kafka.bootstrap-servers", "all:1", "spring.kafka.producer.bootstrap-servers", "own:2");
        assertThat(read(both, null)).containsEntry("bootstrap.servers", "own:2");
        assertThat(read(both, "outbox:3")).containsEntry("bootstrap.servers", "outbox:3");
        assertThat(read(both, null, "linger.ms", "5")).containsEntry("linger.ms", "5");
    }

    @Test
    void key_stores_are_files() {
        assertThat(read(
                        Map.of(
                                "spring.kafka.ssl.trust-store-location", "file:/etc/keys/trust.p12",
                                "spring.kafka.ssl.trust-store-password", "secret",
                                "spring.kafka.ssl.trust-store-type", "PKCS12",
                                "spring.kafka.ssl.key-password", "secret2"),
                        null))
                .containsOnly(
                        Map.entry("ssl.truststore.location", "/etc/keys/trust.p12"),
                        Map.entry("ssl.truststore.password", "secret"),
                        Map.entry("ssl.truststore.type", "PKCS12"),
                        Map.entry("ssl.key.password", "secret2"));
        assertThatThrownBy(() ->
                        read(Map.of("spring.kafka.ssl.key-store-location", "https://keys.example.com/k.p12"), null))
                .isInstanceOf(OutboxException.class)
                .hasMessage("spring.kafka.ssl.key-store-location=https://keys.example.com/k.p12 is no file, and Kafka"
                        + " reads files only.");
    }
}
