// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * A consumer that reads topics from their beginning and records every record in a {@link DeliveryLog}.
 *
 * <p>It belongs to no group, so that the loss of a broker makes it read nothing twice: what the log has twice was sent
 * twice. A topic may come into being later, and may get more partitions. Needs {@code kafka-clients} on the classpath.
 * Thread-safe.
 */
public final class KafkaTap implements AutoCloseable {
    /** The record header with the event's id. */
    public static final String EVENT_ID_HEADER = "postrider-event-id";

    private static final Duration POLL = Duration.ofMillis(100);
    private static final long LOOK_NANOS = Duration.ofSeconds(1).toNanos();

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final DeliveryLog log;
    private final List<String> topics;
    private final Thread thread = new Thread(this::run, "postrider-kafka-tap");
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final AtomicReference<@Nullable End> end = new AtomicReference<>();
    private volatile boolean closed;

    private KafkaTap(KafkaConsumer<byte[], byte[]> consumer, DeliveryLog log, List<String> topics) {
        this.consumer = consumer;
        this.log = log;
        this.topics = topics;
    }

    /** Starts to read these topics of this broker into the log. */
    public static KafkaTap start(String bootstrapServers, DeliveryLog log, String... topics) {
        return start(Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers), log, topics);
    }

    /** Starts to read these topics with these settings of the consumer into the log. */
    public static KafkaTap start(Map<String, Object> settings, DeliveryLog log, String... topics) {
        Map<String, Object> all = new HashMap<>();
        all.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        all.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        all.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        all.put(ConsumerConfig.METADATA_MAX_AGE_CONFIG, 1_000);
        all.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, 5_000);
        all.put(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, 4_000);
        all.put(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 500);
        all.putAll(settings);
        KafkaTap tap = new KafkaTap(
                new KafkaConsumer<>(all, new ByteArrayDeserializer(), new ByteArrayDeserializer()),
                log,
                List.copyOf(Arrays.asList(topics)));
        tap.thread.setDaemon(true);
        tap.thread.start();
        return tap;
    }

    /**
     * Waits until the log has so many deliveries, duplicates included.
     *
     * @throws AssertionError saying how many there were, if they did not come in time
     */
    public void awaitCount(int count, Duration timeout) {
        await(count, timeout, false);
    }

    /**
     * Waits until the log has so many different events.
     *
     * @throws AssertionError saying how many there were, if they did not come in time
     */
    public void awaitDistinct(int count, Duration timeout) {
        await(count, timeout, true);
    }

    /**
     * Waits until all has been read that is in the topics now, so that a delivery that nobody expects is in the log too.
     *
     * @throws AssertionError if that takes longer, or the tap has failed
     */
    public synchronized void awaitEnd(Duration timeout) {
        End wanted = new End();
        end.set(wanted);
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!wanted.reached) {
            Throwable broken = failure.get();
            if (broken != null || System.nanoTime() - deadline > 0) {
                throw new AssertionError("The end of " + topics + " was not read within " + timeout, broken);
            }
            Pause.millis(10);
        }
    }

    private void await(int count, Duration timeout, boolean distinct) {
        long deadline = System.nanoTime() + timeout.toNanos();
        while ((distinct ? log.distinct() : log.size()) < count) {
            Throwable broken = failure.get();
            if (broken != null || System.nanoTime() - deadline > 0) {
                throw new AssertionError(
                        "Expected " + count + " deliveries from " + topics + " within " + timeout + " and saw "
                                + log.size() + " of " + log.distinct() + " events",
                        broken);
            }
            Pause.millis(10);
        }
    }

    /** Ends the consumer; the log stays open. */
    @Override
    public void close() {
        closed = true;
        consumer.wakeup();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Where the topics ended when somebody asked for it. */
    private static final class End {
        private @Nullable Map<TopicPartition, Long> offsets;
        private volatile boolean reached;
    }

    private void look(End wanted) {
        if (consumer.assignment().isEmpty()) {
            // Nothing is known of the topics yet.
            return;
        }
        try {
            Map<TopicPartition, Long> offsets =
                    wanted.offsets == null ? consumer.endOffsets(consumer.assignment()) : wanted.offsets;
            wanted.offsets = offsets;
            wanted.reached =
                    offsets.entrySet().stream().allMatch(each -> consumer.position(each.getKey()) >= each.getValue());
        } catch (KafkaException e) {
            if (closed) {
                throw e;
            }
            // The broker is away; whoever waits has the patience.
        }
    }

    private void run() {
        try (consumer) {
            long nextLook = System.nanoTime();
            while (!closed) {
                if (System.nanoTime() - nextLook >= 0) {
                    assign();
                    nextLook = System.nanoTime()
                            + LOOK_NANOS / (consumer.assignment().isEmpty() ? 10 : 1);
                }
                if (consumer.assignment().isEmpty()) {
                    Pause.nanos(POLL.toNanos());
                } else {
                    consumer.poll(POLL).forEach(this::record);
                }
                End wanted = end.get();
                if (wanted != null && !wanted.reached) {
                    look(wanted);
                }
            }
        } catch (RuntimeException e) {
            if (!closed) {
                failure.set(e);
            }
        }
    }

    private void assign() {
        List<TopicPartition> wanted = new ArrayList<>();
        for (String topic : topics) {
            try {
                consumer.partitionsFor(topic)
                        .forEach(partition -> wanted.add(new TopicPartition(topic, partition.partition())));
            } catch (KafkaException e) {
                if (closed) {
                    throw e;
                }
                // The broker is away; what is assigned already stays so.
                return;
            }
        }
        if (wanted.size() > consumer.assignment().size()) {
            // Those that were assigned before keep their position.
            consumer.assign(wanted);
        }
    }

    private void record(ConsumerRecord<byte[], byte @Nullable []> record) {
        Map<String, String> headers = new LinkedHashMap<>();
        for (Header header : record.headers()) {
            headers.put(header.key(), text(header.value()));
        }
        String id = headers.get(EVENT_ID_HEADER);
        if (id == null) {
            throw new IllegalStateException("A record without the header " + EVENT_ID_HEADER + " in " + record.topic()
                    + "-" + record.partition() + " at offset " + record.offset());
        }
        log.record(UUID.fromString(id), record.value(), headers);
    }

    private static String text(byte @Nullable [] value) {
        return value == null ? "" : new String(value, StandardCharsets.UTF_8);
    }
}
