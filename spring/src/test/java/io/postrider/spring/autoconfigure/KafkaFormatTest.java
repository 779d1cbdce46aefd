// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.mock.env.MockEnvironment;

class KafkaFormatTest {

    @ParameterizedTest
    @CsvSource({
        "raw, raw",
        "envelope, envelope",
        "cloud-events, CloudEvents of /shop",
        "cloud-events-structured, structured CloudEvents of /shop"
    })
    void a_format_is_named_by_its_setting(String setting, String format) {
        assertThat(format(environment("postrider.kafka.format", setting, "spring.application.name", "shop")))
                .isEqualTo(format);
    }

    @Test
    void the_payload_goes_as_it_is_if_nothing_is_said() {
        assertThat(format(environment())).isEqualTo("raw");
    }

    @Test
    void the_source_of_cloud_events_can_be_given() {
        assertThat(format(environment(
                        "postrider.kafka.format",
                        "cloud-events",
                        "postrider.kafka.cloud-events-source",
                        "https://example.org/shop",
                        "spring.application.name",
                        "my shop")))
                .isEqualTo("CloudEvents of https://example.org/shop");
    }

    @Test
    void cloud_events_without_a_source_are_refused() {
        assertThatThrownBy(() -> format(environment("postrider.kafka.format", "cloud-events")))
                .isInstanceOfSatisfying(SetupException.class, e -> {
                    assertThat(e).hasMessage("CloudEvents are to be sent, and there is no source to name in them.");
                    assertThat(e.action())
                            .isEqualTo("Set postrider.kafka.cloud-events-source, such as /orders, or"
                                    + " spring.application.name.");
                });
    }

    @Test
    void an_application_name_that_is_no_source_is_refused() {
        assertThatThrownBy(() -> format(environment(
                        "postrider.kafka.format", "cloud-events-structured", "spring.application.name", "my shop")))
                .isInstanceOf(SetupException.class)
                .hasMessageContaining("source=/my shop was given");
    }

    private static String format(MockEnvironment environment) {
        PostriderProperties.Kafka kafka =
                Binder.get(environment).bindOrCreate("postrider.kafka", PostriderProperties.Kafka.class);
        return KafkaFormat.of(kafka, environment).toString();
    }

    private static MockEnvironment environment(String... namesAndValues) {
        MockEnvironment environment = new MockEnvironment();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            environment.setProperty(namesAndValues[i], namesAndValues[i + 1]);
        }
        return environment;
    }
}
