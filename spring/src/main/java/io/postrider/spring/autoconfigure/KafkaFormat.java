// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.OutboxException;
import io.postrider.kafka.MessageFormat;
import org.springframework.core.env.Environment;

/** What the settings say about the format of Kafka's records. */
final class KafkaFormat {
    private KafkaFormat() {}

    static MessageFormat of(PostriderProperties.Kafka kafka, Environment environment) {
        return switch (kafka.format()) {
            case RAW -> MessageFormat.raw();
            case ENVELOPE -> MessageFormat.envelope();
            case CLOUD_EVENTS, CLOUD_EVENTS_STRUCTURED -> cloudEvents(kafka, environment);
        };
    }

    private static MessageFormat cloudEvents(PostriderProperties.Kafka kafka, Environment environment) {
        String source = source(kafka, environment);
        try {
            return kafka.format() == PostriderProperties.Format.CLOUD_EVENTS
                    ? MessageFormat.cloudEvents(source)
                    : MessageFormat.cloudEventsStructured(source);
        } catch (OutboxException e) {
            throw new SetupException(
                    "CloudEvents cannot come from this source: " + e.getMessage(),
                    "Set postrider.kafka.cloud-events-source to a URI reference; by default it is / and the"
                            + " spring.application.name.",
                    e);
        }
    }

    private static String source(PostriderProperties.Kafka kafka, Environment environment) {
        String own = kafka.cloudEventsSource();
        if (own != null) {
            return own;
        }
        String application = environment.getProperty("spring.application.name", "");
        if (application.isBlank()) {
            throw new SetupException(
                    "CloudEvents are to be sent, and there is no source to name in them.",
                    "Set postrider.kafka.cloud-events-source, such as /orders, or spring.application.name.");
        }
        return "/" + application;
    }
}
