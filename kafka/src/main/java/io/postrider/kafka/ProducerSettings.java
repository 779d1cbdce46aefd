// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The user's producer settings, checked, with ours added: what loses, reorders or blocks is refused. Immutable. */
final class ProducerSettings {
    static final int DEFAULT_MAX_PAYLOAD = 900 * 1024;
    static final Duration DEFAULT_SEND_TIMEOUT = Duration.ofSeconds(30);

    /** Room beside the payload for key, headers and the envelope; with the default payload it makes Kafka's 1 MiB. */
    private static final int ROOM = 124 * 1024;

    private static final long LEAST_BUFFER = 32L * 1024 * 1024;
    private static final String FOREVER = String.valueOf(Integer.MAX_VALUE);
    private static final String BYTES = ByteArraySerializer.class.getName();
    private static final Set<String> KEYLESS_PARTITIONERS = Set.of(
            "org.apache.kafka.clients.producer.RoundRobinPartitioner",
            "org.apache.kafka.clients.producer.UniformStickyPartitioner");

    private final Map<String, Object> settings;
    private final Secrets secrets;
    private final Duration sendTimeout;
    private final Duration metadataWait;

    private ProducerSettings(Map<String, Object> given, Duration sendTimeout, int maxPayload) {
        this.secrets = Secrets.in(given);
        this.sendTimeout = sendTimeout;
        this.settings = new LinkedHashMap<>(given);
        checkSafety();
        checkTimes();
        // The wait for metadata or memory is done here, without a thread: the client itself never blocks a caller.
        this.metadataWait = Duration.ofMillis(number(ProducerConfig.MAX_BLOCK_MS_CONFIG, atMost(5_000)));
        checkSizes(maxPayload);
        addDefaults();
        addMusts();
    }

    /** Checks the settings against each other, and names both values where two of them contradict. */
    static ProducerSettings of(Map<String, Object> given, Duration sendTimeout, int maxPayload) {
        if (sendTimeout.compareTo(Duration.ofMillis(100)) < 0) {
            throw new OutboxException("sendTimeout=" + sendTimeout + " was given, but Kafka needs at least PT0.1S to"
                    + " answer: raise sendTimeout.");
        }
        if (maxPayload < 1 || maxPayload > Integer.MAX_VALUE / 16) {
            throw new OutboxException("maxPayload=" + maxPayload + " was given, but it must be between 1 and "
                    + Integer.MAX_VALUE / 16 + " bytes.");
        }
        return new ProducerSettings(given, sendTimeout, maxPayload);
    }

    Secrets secrets() {
        return secrets;
    }

    Duration sendTimeout() {
        return sendTimeout;
    }

    /** How long a send may wait until the topic is known, or until there is memory for it. */
    Duration metadataWait() {
        return metadataWait;
    }

    /**
     * Whether the client has at most one batch of a partition under way and sends a key to one partition: then nothing of
     * a key is on its way behind a record while that one can still be refused.
     */
    boolean keepsOrderOfAPartition() {
        return number(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1) == 1
                && settings.get(ProducerConfig.PARTITIONER_CLASS_CONFIG) == null;
    }

    String bootstrapServers() {
        return secrets.hide(String.valueOf(settings.get(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG)));
    }

    /** The settings as the client gets them. */
    Map<String, Object> asMap() {
        return Map.copyOf(settings);
    }

    /**
     * Opens a producer; this may take a while, as names are resolved.
     *
     * @param number 1 for the first of a publisher; a later one has it in its client id, as two may live side by side
     */
    Producer<byte[], byte[]> open(int number) {
        Map<String, Object> own = new LinkedHashMap<>(settings);
        if (number > 1) {
            own.computeIfPresent(ProducerConfig.CLIENT_ID_CONFIG, (name, id) -> id + "-" + number);
        }
        try {
            return new KafkaProducer<>(own, new ByteArraySerializer(), new ByteArraySerializer());
        } catch (RuntimeException e) {
            throw notCreated(e);
        }
    }

    /** Refuses what Kafka would, as far as it can be known without opening a producer, which takes much longer. */
    void check() {
        Map<String, Object> all = new LinkedHashMap<>(settings);
        all.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, BYTES);
        all.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, BYTES);
        try {
            ProducerConfig.configDef().parse(all);
        } catch (RuntimeException e) {
            throw notCreated(e);
        }
    }

    /** Without the cause: it may quote a login module's credentials, and a logger would print it. */
    private OutboxException notCreated(RuntimeException e) {
        return new OutboxException("The Kafka producer could not be created: " + secrets.describe(e));
    }

    private void checkSafety() {
        if (text(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, "").isEmpty()) {
            throw new OutboxException("bootstrap.servers is missing: give the addresses of your Kafka brokers,"
                    + " such as bootstrap.servers=kafka-1:9092,kafka-2:9092.");
        }
        if (!Set.of("all", "-1").contains(text(ProducerConfig.ACKS_CONFIG, "all"))) {
            throw refused(ProducerConfig.ACKS_CONFIG, "all", "an event that only one broker has can be lost with it");
        }
        must(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true", "a repeated request could write an event twice");
        if (number(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 5) > 5) {
            throw refused(
                    ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, "5 or less", "more can change the order");
        }
        String early = "a record given up by the client can be overtaken by a later one; use sendTimeout";
        must(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, FOREVER, early);
        must(ProducerConfig.RETRIES_CONFIG, FOREVER, early);
        must(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, BYTES, "events are sent as they were stored");
        must(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, BYTES, "events are sent as they were stored");
        String scattered = "events of one key would be scattered over partitions and lose their order";
        must(ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG, "false", scattered);
        if (KEYLESS_PARTITIONERS.contains(text(ProducerConfig.PARTITIONER_CLASS_CONFIG, ""))) {
            throw refused(ProducerConfig.PARTITIONER_CLASS_CONFIG, "one that goes by the key", scattered);
        }
        if (settings.get(ProducerConfig.TRANSACTIONAL_ID_CONFIG) != null) {
            throw refused(
                    ProducerConfig.TRANSACTIONAL_ID_CONFIG, "none", "several relays share the work without fencing");
        }
    }

    private void checkTimes() {
        below(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, "one request must be able to fail and be repeated within it");
        below(ProducerConfig.MAX_BLOCK_MS_CONFIG, "a send that waits for its topic must be answered within it");
        below(ProducerConfig.LINGER_MS_CONFIG, "a send must leave the client within it");
    }

    private void below(String name, String why) {
        if (number(name, 0) >= sendTimeout.toMillis()) {
            throw new OutboxException(name + "=" + settings.get(name) + " was given, but sendTimeout is "
                    + sendTimeout.toMillis() + " ms, and " + why + ": lower " + name + " or raise sendTimeout.");
        }
    }

    private void checkSizes(int maxPayload) {
        long needed = maxPayload + (long) ROOM;
        long request = number(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Math.max(1024 * 1024, needed));
        if (request < needed) {
            throw new OutboxException("max.request.size=" + request + " was given, but maxPayload is " + maxPayload
                    + " bytes, which needs " + needed + " with key and headers: raise max.request.size or lower"
                    + " maxPayload.");
        }
        long buffer = number(ProducerConfig.BUFFER_MEMORY_CONFIG, Math.max(LEAST_BUFFER, 8 * request));
        if (buffer < request) {
            throw new OutboxException("buffer.memory=" + buffer + " was given, but max.request.size is " + request
                    + ", and one request must fit: raise buffer.memory.");
        }
        settings.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, String.valueOf(request));
        settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, String.valueOf(buffer));
    }

    private void addDefaults() {
        settings.putIfAbsent(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, "1");
        settings.putIfAbsent(ProducerConfig.LINGER_MS_CONFIG, "0");
        settings.putIfAbsent(ProducerConfig.BATCH_SIZE_CONFIG, String.valueOf(128 * 1024));
        settings.putIfAbsent(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, String.valueOf(atMost(6_000)));
        settings.putIfAbsent(ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, "500");
        settings.putIfAbsent(
                ProducerConfig.METADATA_MAX_IDLE_CONFIG,
                String.valueOf(Duration.ofDays(1).toMillis()));
    }

    private void addMusts() {
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, FOREVER);
        settings.put(ProducerConfig.RETRIES_CONFIG, FOREVER);
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, "0");
        settings.remove(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG);
        settings.remove(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG);
    }

    /** A default time that leaves room for a second try within the send timeout. */
    private long atMost(long millis) {
        return Math.min(millis, sendTimeout.toMillis() / 2);
    }

    private void must(String name, String needed, String why) {
        if (!text(name, needed).equalsIgnoreCase(needed)) {
            throw refused(name, needed, why);
        }
    }

    private OutboxException refused(String name, String needed, String why) {
        return new OutboxException(name + "=" + shown(name) + " was given, but Postrider needs " + name + "=" + needed
                + ", because " + why + ": remove the setting.");
    }

    private String text(String name, String otherwise) {
        Object value = settings.get(name);
        return value == null ? otherwise : shown(name);
    }

    private String shown(String name) {
        Object value = settings.get(name);
        return value instanceof Class<?> type
                ? type.getName()
                : secrets.hide(String.valueOf(value)).trim();
    }

    private long number(String name, long otherwise) {
        String value = text(name, "").toLowerCase(Locale.ROOT);
        if (value.isEmpty()) {
            return otherwise;
        }
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw new OutboxException(name + "=" + value + " was given, but it must be a whole number.", e);
        }
    }
}
