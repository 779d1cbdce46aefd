// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.postrider.OutboxException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecretsTest {
    private static final String CANARY = "canary-4711";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "canary-4711",
                "no.such.Module required username=\"u-canary-4711\" password=\"canary-4711\";",
                "org.apache.kafka.common.security.plain.PlainLoginModule canary-4711 password=canary-4711;",
                "org.apache.kafka.common.security.plain.PlainLoginModule required password='canary-4711",
                "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"a\" password=\"canary-4711\""
            })
    void a_login_line_that_kafka_cannot_read_is_not_shown(String line) {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", "127.0.0.1:9",
                "security.protocol", "SASL_PLAINTEXT",
                "sasl.mechanism", "PLAIN",
                "sasl.jaas.config", line);

        assertThat(whatIsPrinted(catchThrowable(() -> KafkaPublisher.create(settings))))
                .startsWith(
                        OutboxException.class.getName() + ": The Kafka producer could not be created: KafkaException")
                .doesNotContain(CANARY);
    }

    @Test
    void a_password_that_opens_no_key_store_is_not_shown() {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", "127.0.0.1:9",
                "security.protocol", "SSL",
                "ssl.keystore.type", "PEM",
                "ssl.key.password", CANARY,
                "ssl.keystore.key", "-----BEGIN " + CANARY,
                "ssl.keystore.certificate.chain", "none");

        assertThat(whatIsPrinted(catchThrowable(() -> KafkaPublisher.create(settings))))
                .contains("could not be created")
                .doesNotContain(CANARY);
    }

    @Test
    void the_refusal_of_a_setting_shows_no_other_setting() {
        Map<String, Object> settings =
                Map.of("bootstrap.servers", "127.0.0.1:9", "acks", "1", "ssl.key.password", CANARY);

        assertThat(whatIsPrinted(catchThrowable(() -> KafkaPublisher.create(settings))))
                .contains("acks=1 was given")
                .doesNotContain(CANARY);
    }

    @Test
    void a_failure_whose_text_quotes_a_secret_is_told_without_it() {
        Map<String, Object> settings = new HashMap<>();
        settings.put("sasl.jaas.config", new Password("m required password=\"" + CANARY + "\";"));
        KafkaFailures failures = new KafkaFailures(Secrets.in(settings));

        Throwable failure = failures.of(
                new SaslAuthenticationException("bad " + CANARY, new IllegalStateException(CANARY)), "orders");

        assertThat(whatIsPrinted(failure)).contains("bad [hidden]").doesNotContain(CANARY);
    }

    @Test
    void the_words_of_an_exception_that_is_not_kafkas_are_not_repeated() {
        KafkaFailures failures = new KafkaFailures(Secrets.in(Map.of()));

        Throwable failure = failures.of(new IllegalArgumentException("payload " + CANARY), "orders");

        assertThat(whatIsPrinted(failure))
                .contains("IllegalArgumentException at io.postrider.kafka.SecretsTest")
                .doesNotContain(CANARY);
    }

    @Test
    void a_publisher_names_its_brokers_and_nothing_secret() {
        Map<String, Object> settings =
                Map.of("bootstrap.servers", "127.0.0.1:9", "ssl.key.password", CANARY, "my.api.token", CANARY);

        try (KafkaPublisher publisher = KafkaPublisher.create(settings)) {
            assertThat(publisher).hasToString("KafkaPublisher(127.0.0.1:9, raw, sendTimeout PT30S)");
        }
    }

    @Test
    void credentials_inside_an_address_are_hidden() {
        Secrets secrets = Secrets.in(Map.of("schema.registry.url", "https://bob:" + CANARY + "@registry:8081"));

        assertThat(secrets.hide("cannot reach https://bob:" + CANARY + "@registry:8081\nnow"))
                .isEqualTo("cannot reach https://[hidden]@registry:8081 now");
    }

    private static String whatIsPrinted(Throwable failure) {
        assertThat(failure).isNotNull();
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text, true));
        return text.toString();
    }
}
