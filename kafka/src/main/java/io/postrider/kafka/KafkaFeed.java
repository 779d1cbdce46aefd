// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxException;
import io.postrider.relay.Feed;
import io.postrider.relay.Intake;
import io.postrider.relay.Membership;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.jspecify.annotations.Nullable;

/**
 * Topics as the source of a relay: its handlers get what other relays have written there.
 *
 * <pre>{@code
 * KafkaFeed feed = KafkaFeed.builder(Map.of("bootstrap.servers", "localhost:9092", "group.id", "billing"))
 *         .stream("orders")
 *         .deadLetterTopic("billing.dead")
 *         .build();
 * Relay relay = Relay.from(feed).to(handlers).retry(RetryPolicy.brisk()).build();
 * }</pre>
 *
 * <p>The properties are those of Kafka's own consumer. An offset is committed when its event and all before it are finished:
 * handled, or written to the dead-letter topic. Attempts are counted in memory. Thread-safe.
 */
public final class KafkaFeed implements Feed {
    private static final Duration TICK = Duration.ofSeconds(1);
    private static final Duration END_LIMIT = Duration.ofSeconds(30);
    private static final int LARGEST_LETTER = 16 << 20;

    private final ConsumerSettings settings;
    private final Map<String, String> streamsByTopic;
    private final Map<String, Object> clientSettings;
    private final String deadLetterTopic;

    private KafkaFeed(Builder builder) {
        settings = new ConsumerSettings(builder.settings, builder.handOverTime, builder.mostUnfinished);
        streamsByTopic = Map.copyOf(builder.streamsByTopic);
        deadLetterTopic = Objects.requireNonNull(builder.deadLetterTopic);
        clientSettings = shared(builder.settings);
        KafkaPublisher.builder(clientSettings).deadLetterTopic(deadLetterTopic).check();
    }

    /** How to reach the brokers, and how large a dead letter may be; the rest is about consumers. */
    private static Map<String, Object> shared(Map<String, Object> given) {
        Map<String, Object> shared = new LinkedHashMap<>();
        given.forEach((name, value) -> {
            if (name.equals(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG)
                    || name.equals(CommonClientConfigs.SECURITY_PROTOCOL_CONFIG)
                    || name.equals(CommonClientConfigs.CLIENT_DNS_LOOKUP_CONFIG)
                    || name.equals(ProducerConfig.MAX_REQUEST_SIZE_CONFIG)
                    || name.startsWith("ssl.")
                    || name.startsWith("sasl.")) {
                shared.put(name, value);
            }
        });
        // What could be received shall not fail here for its size: the dead-letter topic has a limit of its own.
        if (!shared.containsKey(ProducerConfig.MAX_REQUEST_SIZE_CONFIG)) {
            shared.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, LARGEST_LETTER);
            shared.put(ProducerConfig.BUFFER_MEMORY_CONFIG, 2 * LARGEST_LETTER);
        }
        return shared;
    }

    /** Starts a feed with the settings of a Kafka consumer; {@code bootstrap.servers} and {@code group.id} are needed. */
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
    public Membership join(Joining joining) {
        if (joining.onePass()) {
            throw new OutboxException("A topic has no end that one pass could reach, so relay " + joining.name()
                    + " cannot drain it. Start the relay instead.");
        }
        return new Consumers(joining);
    }

    /** The consumers of one relay, one for each loop; all in the same group. */
    private final class Consumers implements Membership {
        private final KafkaPublisher deadLetters;
        private final List<ConsumerThread> threads = new ArrayList<>();
        private final List<KafkaIntake> intakes = new ArrayList<>();

        Consumers(Joining joining) {
            deadLetters = KafkaPublisher.builder(clientSettings)
                    .deadLetterTopic(deadLetterTopic)
                    .build();
            for (int i = 0; i < joining.loops(); i++) {
                ConsumerThread thread = new ConsumerThread(joining.name() + "-consumer-" + i, settings, streamsByTopic);
                threads.add(thread);
                intakes.add(new KafkaIntake(thread, deadLetters));
            }
        }

        @Override
        public Intake intake(int loop) {
            threads.get(loop).start();
            return intakes.get(loop);
        }

        /** Says when something has come; the loops look by themselves too, for what waits here. */
        @Override
        public boolean onDue(LongConsumer due) {
            intakes.forEach(each -> each.onArrival(() -> due.accept(0)));
            return false;
        }

        @Override
        public Duration tickEvery() {
            return TICK;
        }

        /** The group coordinator does all that. */
        @Override
        public void tick(Report report) {}

        @Override
        public void wants(boolean share) {
            intakes.forEach(each -> each.wants(share));
        }

        @Override
        public void leave() {
            threads.forEach(ConsumerThread::end);
            long end = System.nanoTime() + END_LIMIT.toNanos();
            for (ConsumerThread thread : threads) {
                thread.awaitEnd(end);
            }
            deadLetters.close();
        }
    }

    @Override
    public String toString() {
        return "KafkaFeed(group " + settings.group() + ", topics "
                + streamsByTopic.keySet().stream().sorted().toList() + ")";
    }

    /** Collects what a feed needs; not thread-safe. */
    public static final class Builder {
        private final Map<String, Object> settings;
        private final Map<String, String> streamsByTopic = new LinkedHashMap<>();
        private @Nullable String deadLetterTopic;
        private Duration handOverTime = Duration.ofSeconds(10);
        private int mostUnfinished = 2_000;

        private Builder(Map<String, Object> settings) {
            this.settings = settings;
        }

        /** Receives this stream, from the topic of the same name. */
        public Builder stream(String stream) {
            return stream(stream, stream);
        }

        /** Receives this stream, from this topic. */
        public Builder stream(String stream, String topic) {
            streamsByTopic.put(KafkaPublisher.legal("topic", topic), Objects.requireNonNull(stream, "stream"));
            return this;
        }

        /** Where dead and unknown events are written before the group goes on without them; there must be one. */
        public Builder deadLetterTopic(String topic) {
            this.deadLetterTopic = KafkaPublisher.legal("deadLetterTopic", topic);
            return this;
        }

        /** How long a partition that goes to another consumer waits for its handlers here to end; 10 s by default. */
        public Builder handOverTime(Duration handOverTime) {
            this.handOverTime = Objects.requireNonNull(handOverTime, "handOverTime");
            return this;
        }

        /**
         * How many events of a partition may be received from the oldest unfinished one on, 2,000 by default: so many can come
         * again if the process dies while one waits for its retry.
         */
        public Builder mostUnfinished(int events) {
            this.mostUnfinished = events;
            return this;
        }

        /**
         * Checks all that; brokers that are down are no error here.
         *
         * @throws OutboxException naming the first setting that is missing, unsafe or contradicts another
         */
        public KafkaFeed build() {
            if (streamsByTopic.isEmpty()) {
                throw new OutboxException("No stream was given, so nothing would be received. Call stream(..).");
            }
            if (deadLetterTopic == null) {
                throw new OutboxException("No dead-letter topic was given, so an event that cannot be handled would"
                        + " keep its partition back for ever. Call deadLetterTopic(..).");
            }
            if (streamsByTopic.containsKey(deadLetterTopic)) {
                throw new OutboxException("deadLetterTopic=" + deadLetterTopic + " was given, but the same topic is"
                        + " received, so its events would go in circles. Name another.");
            }
            return new KafkaFeed(this);
        }
    }
}
