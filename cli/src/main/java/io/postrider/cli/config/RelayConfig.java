// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.config;

import io.postrider.jdbc.StreamSettings;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.kafka.MessageFormat;
import io.postrider.relay.RetryPolicy;
import io.postrider.relay.Window;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.producer.ProducerConfig;

/** One relay of a database: what it takes, and the Kafka that it delivers to. */
public record RelayConfig(
        String group,
        Optional<String> name,
        int loops,
        Window window,
        Times times,
        RetryPolicy retry,
        List<StreamSettings> streams,
        Kafka kafka) {
    private static final String DEFAULT_GROUP = "default";

    /** How long things may take. */
    public record Times(
            Duration lease, Duration idlePoll, Duration answerTimeout, Duration statementTimeout, Duration stopTime) {}

    /** What records look like. */
    private enum Format {
        RAW,
        ENVELOPE,
        CLOUD_EVENTS,
        CLOUD_EVENTS_STRUCTURED
    }

    /** Where events go. */
    public record Kafka(
            Map<String, String> producer,
            MessageFormat format,
            Map<String, String> topics,
            Optional<String> deadLetterTopic,
            Duration sendTimeout,
            int maxPayload) {

        /** Described, and not opened. */
        public KafkaPublisher.Builder publisher() {
            KafkaPublisher.Builder builder = KafkaPublisher.builder(producer)
                    .format(format)
                    .sendTimeout(sendTimeout)
                    .maxPayload(maxPayload);
            topics.forEach(builder::topic);
            deadLetterTopic.ifPresent(builder::deadLetterTopic);
            return builder;
        }

        @Override
        public String toString() {
            return "Kafka at " + producer.get(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG);
        }
    }

    static RelayConfig of(Section section) {
        String group = section.text("group", DEFAULT_GROUP);
        List<StreamSettings> streams = streams(section);
        if (!group.equals(DEFAULT_GROUP) && streams.isEmpty()) {
            section.refuse(
                    "group",
                    "'" + group + "' has no streams, so it would deliver nothing. List them under streams, or leave the"
                            + " group out: the default one serves every stream that no other group has.");
        }
        Window standard = Window.ofDefaults();
        Window window = new Window(
                (int) section.number("window-rows", standard.rows(), 1, 1_000_000),
                section.number("window-bytes", standard.bytes(), 1, 1L << 40));
        return new RelayConfig(
                group,
                section.text("name"),
                (int) section.number("loops", 1, 1, 64),
                window,
                times(section),
                retry(section.section("retry")),
                streams,
                kafka(section));
    }

    private static Times times(Section section) {
        Duration lease = section.duration("lease", Duration.ofSeconds(8));
        if (lease.compareTo(Duration.ofSeconds(1)) < 0 || lease.compareTo(Duration.ofMinutes(10)) > 0) {
            section.refuse("lease", Span.of(lease) + " was found, from 1s to 10m is expected.");
        }
        return new Times(
                lease,
                section.duration("idle-poll", Duration.ofMillis(500)),
                section.duration("answer-timeout", Duration.ofSeconds(60)),
                section.duration("statement-timeout", Duration.ofSeconds(10)),
                section.duration("stop-time", Duration.ofSeconds(20)));
    }

    private static RetryPolicy retry(Section section) {
        int attempts = (int) section.number("attempts", 5, 1, 1_000_000);
        Duration first = section.duration("first", Duration.ofSeconds(2));
        Duration longest = section.duration("longest", Duration.ofMinutes(10));
        return section.checked(
                "longest",
                () -> RetryPolicy.exponential(first, longest).jitter(0.2).attempts(attempts),
                RetryPolicy.ofDefaults());
    }

    private static List<StreamSettings> streams(Section section) {
        List<StreamSettings> streams = new ArrayList<>();
        section.named("streams", "none")
                .forEach((name, each) -> streams.add(new StreamSettings(
                        name,
                        each.choice("on-dead", StreamSettings.OnDead.HOLD_KEY),
                        each.choice("history", StreamSettings.History.KEEP))));
        return streams;
    }

    private static Kafka kafka(Section relay) {
        Section section = relay.section("kafka");
        if (!section.present()) {
            relay.refuse(
                    "kafka", "is missing, so there is nowhere to deliver to. Write kafka: {bootstrap-servers: ...}.");
        }
        Map<String, String> producer = new LinkedHashMap<>();
        String servers = section.needed("bootstrap-servers", "host:9092, or several with commas");
        producer.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
        section.values("producer").forEach((name, value) -> {
            if (!ProducerConfig.configNames().contains(name) || name.equals(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG)) {
                String meant = name.equals(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG)
                        ? "Write bootstrap-servers under kafka instead."
                        : Spelling.nearest(name, ProducerConfig.configNames())
                                .map(near -> "Did you mean " + near + "?")
                                .orElse("Kafka's documentation lists those of its producer.");
                section.refuse("producer", name + " is no setting of Kafka's producer here. " + meant);
            }
            producer.put(name, value);
        });
        Kafka kafka = new Kafka(
                producer,
                format(section),
                section.values("topics"),
                section.text("dead-letter-topic"),
                section.duration("send-timeout", Duration.ofSeconds(30)),
                (int) section.number("max-payload", 900 * 1024, 1, Integer.MAX_VALUE / 16));
        if (!servers.isEmpty()) {
            relay.check("kafka", () -> kafka.publisher().check());
        }
        return kafka;
    }

    private static MessageFormat format(Section section) {
        Format format = section.choice("format", Format.RAW);
        Optional<String> source = section.text("cloud-events-source");
        if (format == Format.RAW || format == Format.ENVELOPE) {
            if (source.isPresent()) {
                section.refuse(
                        "cloud-events-source", "is given, and the format is no cloud-events. Remove one of both.");
            }
            return format == Format.RAW ? MessageFormat.raw() : MessageFormat.envelope();
        }
        if (source.isEmpty()) {
            section.refuse("cloud-events-source", "is missing. Write who sends the events, such as /orders.");
            return MessageFormat.raw();
        }
        return section.checked(
                "cloud-events-source",
                () -> format == Format.CLOUD_EVENTS
                        ? MessageFormat.cloudEvents(source.get())
                        : MessageFormat.cloudEventsStructured(source.get()),
                MessageFormat.raw());
    }
}
