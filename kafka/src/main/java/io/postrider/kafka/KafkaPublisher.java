// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.relay.Publisher;
import io.postrider.relay.RelayListener;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers events to Kafka; the topic is the stream unless mapped, the record's key is the event's key.
 *
 * <pre>{@code
 * Properties props = new Properties();
 * props.put("bootstrap.servers", "localhost:9092");
 * Publisher publisher = KafkaPublisher.builder(props).topic("order-events", "orders.v1").build();
 * }</pre>
 *
 * <p>The properties are those of Kafka's own producer. What would lose or reorder events is refused at creation, with
 * the value that was given and the one that is needed.
 *
 * <p>An answer comes for every event: from the broker, or after {@link Builder#sendTimeout} as {@code NO_ANSWER}; then
 * the event may have arrived all the same. Thread-safe; never blocks its caller, and answers on a thread of its own, on
 * which one must not block either.
 */
public final class KafkaPublisher implements Publisher {
    private static final Logger log = LoggerFactory.getLogger(KafkaPublisher.class);

    private final ProducerSettings settings;
    private final Records records;
    private final @Nullable String deadLetterTopic;
    private final MessageFormat format;
    private final boolean runs;
    private final Producers producers;

    private KafkaPublisher(Builder builder) {
        settings = ProducerSettings.of(builder.settings, builder.sendTimeout, builder.maxPayload);
        Function<OutboxEvent, String> topic = builder.topic;
        runs = settings.keepsOrderOfAPartition() && topic == null;
        records = new Records(builder.topics, topic == null ? OutboxEvent::stream : topic, builder.format);
        deadLetterTopic = builder.deadLetterTopic;
        format = builder.format;
        producers = new Producers(settings, builder.opensLater);
    }

    /** A publisher with the defaults of {@link #builder(Properties)}. */
    public static KafkaPublisher create(Properties settings) {
        return builder(settings).build();
    }

    /** A publisher with the defaults of {@link #builder(Map)}. */
    public static KafkaPublisher create(Map<String, ?> settings) {
        return builder(settings).build();
    }

    /** Starts a publisher with the settings of a Kafka producer; {@code bootstrap.servers} is the one it needs. */
    public static Builder builder(Properties settings) {
        Map<String, Object> copy = new LinkedHashMap<>();
        settings.stringPropertyNames().forEach(name -> copy.put(name, settings.getProperty(name)));
        settings.forEach((name, value) -> copy.put(String.valueOf(name), value));
        return new Builder(copy);
    }

    /** Starts a publisher with the settings of a Kafka producer; {@code bootstrap.servers} is the one it needs. */
    public static Builder builder(Map<String, ?> settings) {
        Map<String, Object> copy = new LinkedHashMap<>();
        settings.forEach((name, value) -> {
            if (value != null) {
                copy.put(name, value);
            }
        });
        return new Builder(copy);
    }

    @Override
    public CompletionStage<?> publish(OutboxEvent event) {
        return send(new SendRun(), event.stream(), () -> records.of(event));
    }

    /**
     * Runs are offered unless a setting could break their order: more than one request at a time, a partitioner that may
     * not go by the key, or a topic that depends on more than the stream.
     */
    @Override
    public Optional<Run> run() {
        if (!runs) {
            return Optional.empty();
        }
        SendRun run = new SendRun();
        return Optional.of(event -> send(run, event.stream(), () -> records.of(event)));
    }

    /**
     * Sends a dead event to the dead-letter topic: key, value and headers as they would have been, and the error in
     * {@code postrider-error-code} and {@code postrider-error-message}.
     *
     * @param message shown to people; must not contain payload or secrets
     * @throws OutboxException if the publisher was built without a dead-letter topic
     */
    public CompletionStage<?> publishDead(OutboxEvent event, String code, String message) {
        String topic = deadLetterTopic;
        if (topic == null) {
            throw new OutboxException("No dead-letter topic was set, so " + event
                    + " cannot be sent to one. Call deadLetterTopic(..) on the builder.");
        }
        return send(new SendRun(), topic, () -> records.dead(event, topic, code, message));
    }

    /**
     * Has a relay send a copy of every dead event to the dead-letter topic: give it to the relay's {@code listener}.
     *
     * <p>A copy, best effort: the dead letter itself stays in the database until a person acts on it.
     *
     * @throws OutboxException if the publisher was built without a dead-letter topic
     */
    public RelayListener deadLetterCopies() {
        if (deadLetterTopic == null) {
            throw new OutboxException("No dead-letter topic was set, so there is nowhere to copy dead letters to. Call"
                    + " deadLetterTopic(..) on the builder.");
        }
        return new RelayListener() {
            @Override
            public void dead(OutboxEvent event, int failed, String code, String message) {
                var unused = publishDead(event, code, message).whenComplete((done, failure) -> {
                    if (failure != null) {
                        log.warn(
                                "No copy of dead {} reached topic {}: {}",
                                event,
                                deadLetterTopic,
                                failure.getMessage());
                    }
                });
            }
        };
    }

    private CompletionStage<?> send(SendRun run, String where, Supplier<ProducerRecord<byte[], byte[]>> record) {
        Send send;
        try {
            send = new Send(record.get(), run);
        } catch (RuntimeException e) {
            run.end();
            return CompletableFuture.failedFuture(producers.failures().of(e, where));
        }
        producers.accept(send);
        return send.answer();
    }

    /** Gives what is under way two seconds, ends the rest with {@code CLOSED}, and leaves no thread behind. */
    @Override
    public void close() {
        producers.close();
    }

    static String legal(String what, String topic) {
        if (!Records.isLegalTopic(Objects.requireNonNull(topic, what))) {
            throw new OutboxException(what + "=" + topic + " was given, but Kafka allows only topic names of 1 to"
                    + " 249 of a-z, A-Z, 0-9, '.', '_' and '-': rename it.");
        }
        return topic;
    }

    @Override
    public String toString() {
        return "KafkaPublisher(" + settings.bootstrapServers() + ", " + format + ", sendTimeout "
                + settings.sendTimeout() + ")";
    }

    /** Collects what a publisher needs; not thread-safe. */
    public static final class Builder {
        private final Map<String, Object> settings;
        private final Map<String, String> topics = new HashMap<>();
        private @Nullable Function<OutboxEvent, String> topic;
        private MessageFormat format = MessageFormat.raw();
        private @Nullable String deadLetterTopic;
        private Duration sendTimeout = ProducerSettings.DEFAULT_SEND_TIMEOUT;
        private int maxPayload = ProducerSettings.DEFAULT_MAX_PAYLOAD;
        private boolean opensLater;

        private Builder(Map<String, Object> settings) {
            this.settings = settings;
        }

        /** Names the topic of each event that no {@link #topic(String, String)} is for; the stream by default. */
        public Builder topic(Function<OutboxEvent, String> topic) {
            this.topic = Objects.requireNonNull(topic, "topic");
            return this;
        }

        /** Sends the events of one stream to this topic. */
        public Builder topic(String stream, String topic) {
            topics.put(Objects.requireNonNull(stream, "stream"), legal("topic", topic));
            return this;
        }

        /** What a record looks like; {@link MessageFormat#raw()} by default. */
        public Builder format(MessageFormat format) {
            this.format = Objects.requireNonNull(format, "format");
            return this;
        }

        /** Where {@link KafkaPublisher#publishDead} sends; none by default. */
        public Builder deadLetterTopic(String topic) {
            this.deadLetterTopic = legal("deadLetterTopic", topic);
            return this;
        }

        /** After how long without an answer a send is in doubt and its producer is replaced; 30 seconds by default. */
        public Builder sendTimeout(Duration sendTimeout) {
            this.sendTimeout = Objects.requireNonNull(sendTimeout, "sendTimeout");
            return this;
        }

        /** The largest payload in bytes, for which the client's limits are sized; 900 KiB by default. */
        public Builder maxPayload(int bytes) {
            this.maxPayload = bytes;
            return this;
        }

        /**
         * Refuses what {@link #build} would refuse, as far as that is known without a file, a name or a broker.
         *
         * @throws OutboxException naming the first setting that is unsafe, unknown to Kafka or contradicts another
         */
        public Builder check() {
            ProducerSettings.of(settings, sendTimeout, maxPayload).check();
            return this;
        }

        /**
         * Opens Kafka's producer with the first event, or a second or two from now, in the background: an application that starts
         * need not wait for it. What only an open producer finds wrong, such as names that cannot be resolved, is logged then,
         * and events wait.
         */
        public Builder opensLater() {
            this.opensLater = true;
            return this;
        }

        /**
         * Opens the publisher; brokers that are down are no error here.
         *
         * @throws OutboxException naming the first setting that is unsafe or contradicts another
         */
        public KafkaPublisher build() {
            return new KafkaPublisher(this);
        }
    }
}
