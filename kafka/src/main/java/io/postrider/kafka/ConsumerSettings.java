// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** The user's consumer settings, checked, with ours added: what loses events is refused. Immutable. */
final class ConsumerSettings {
    private static final String BYTES = ByteArrayDeserializer.class.getName();
    private static final String PROTOCOL = "group.protocol";
    private static final Duration SESSION = Duration.ofSeconds(10);
    private static final Duration BROKERS_SESSION = Duration.ofSeconds(45);
    private static final long POLL_INTERVAL = 300_000;

    private final Map<String, Object> settings;
    private final Secrets secrets;
    private final Duration handOverTime;
    private final int mostUnfinished;

    ConsumerSettings(Map<String, Object> given, Duration handOverTime, int mostUnfinished) {
        this.secrets = Secrets.in(given);
        this.settings = new LinkedHashMap<>(given);
        this.handOverTime = handOverTime;
        this.mostUnfinished = mostUnfinished;
        check();
        addDefaults();
    }

    private void check() {
        need(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                "the addresses of your Kafka brokers",
                "kafka-1:9092,kafka-2:9092");
        need(ConsumerConfig.GROUP_ID_CONFIG, "the name that all instances of this service share", "billing");
        must(
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                Set.of("false"),
                "an event that was received and not yet handled would be lost with the process");
        must(
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                Set.of("earliest", "none"),
                "events from before the group's first start, or from an outage longer than its offsets are kept, would"
                        + " be passed over");
        must(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, Set.of(BYTES), "handlers decode by themselves");
        must(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, Set.of(BYTES), "handlers decode by themselves");
        if (!text(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG).isEmpty()) {
            throw new OutboxException(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG + "="
                    + text(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG)
                    + " was given, but Postrider needs none, because the"
                    + " consumers of a relay would all have it and shut each other out, and one that stops would keep its"
                    + " partitions from others: remove the setting.");
        }
        long interval = number(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, POLL_INTERVAL);
        // Twice: to wait for handlers, then to commit.
        if (handOverTime.isNegative() || handOverTime.toMillis() * 2 >= interval) {
            throw new OutboxException(
                    "handOverTime=" + handOverTime + " was given, but max.poll.interval.ms is " + interval
                            + ", and a consumer that gives a partition away must have done so in half of it: lower handOverTime"
                            + " or raise max.poll.interval.ms.");
        }
        if (mostUnfinished < 1) {
            throw new OutboxException("mostUnfinished=" + mostUnfinished
                    + " was given, which lets nothing through: give" + " 1 or more.");
        }
    }

    private void addDefaults() {
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        // That of the producer of dead letters.
        settings.remove(ProducerConfig.MAX_REQUEST_SIZE_CONFIG);
        settings.remove(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG);
        settings.remove(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG);
        settings.putIfAbsent(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        settings.putIfAbsent(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.putIfAbsent(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        settings.putIfAbsent(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, "500");
        if (!isBrokersProtocol()) {
            settings.putIfAbsent(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, String.valueOf(SESSION.toMillis()));
            settings.putIfAbsent(
                    ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, CooperativeStickyAssignor.class.getName());
        }
    }

    /** With this one the broker assigns, and says how long a session lasts. */
    private boolean isBrokersProtocol() {
        return text(PROTOCOL).equalsIgnoreCase("consumer");
    }

    Consumer<byte[], byte[]> open() {
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** The settings as the client gets them. */
    Map<String, Object> asMap() {
        return Map.copyOf(settings);
    }

    /** For how long the group waits for a consumer that is not heard of; in a rebalance as long as for one that does not poll. */
    Duration sessionTimeout() {
        long session = isBrokersProtocol()
                ? BROKERS_SESSION.toMillis()
                : number(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, SESSION.toMillis());
        return Duration.ofMillis(Math.min(session, number(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, POLL_INTERVAL)));
    }

    Duration handOverTime() {
        return handOverTime;
    }

    int mostUnfinished() {
        return mostUnfinished;
    }

    Secrets secrets() {
        return secrets;
    }

    String group() {
        return text(ConsumerConfig.GROUP_ID_CONFIG);
    }

    private void need(String name, String what, String example) {
        if (text(name).isEmpty()) {
            throw new OutboxException(name + " is missing: give " + what + ", such as " + name + "=" + example + ".");
        }
    }

    private void must(String name, Set<String> allowed, String why) {
        String given = text(name);
        if (!given.isEmpty() && allowed.stream().noneMatch(given::equalsIgnoreCase)) {
            String needed = String.join(" or ", allowed.stream().sorted().toList());
            throw new OutboxException(name + "=" + given + " was given, but Postrider needs " + name + "=" + needed
                    + ", because " + why + ": remove the setting.");
        }
    }

    private String text(String name) {
        Object value = settings.get(name);
        if (value == null) {
            return "";
        }
        return value instanceof Class<?> type
                ? type.getName()
                : secrets.hide(String.valueOf(value)).trim();
    }

    private long number(String name, long otherwise) {
        String value = text(name);
        try {
            return value.isEmpty() ? otherwise : Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw new OutboxException(name + "=" + value + " was given, but it must be a whole number.", e);
        }
    }
}
