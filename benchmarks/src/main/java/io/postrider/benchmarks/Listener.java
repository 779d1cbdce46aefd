// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A consumer of the whole topic that notes when it first sees each event. Thread-safe. */
final class Listener implements AutoCloseable {
    static final String ID_HEADER = "postrider-event-id";

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Map<String, Long> seenAt = new ConcurrentHashMap<>();
    private final Thread thread = new Thread(this::listen, "bench-listener");
    private volatile boolean ending;

    Listener(String bootstrapServers) {
        consumer = new KafkaConsumer<>(
                Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        consumer.assign(Rig.partitions());
        consumer.seekToEnd(Rig.partitions());
        Rig.partitions().forEach(consumer::position);
        thread.start();
    }

    private void listen() {
        while (!ending) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                long now = System.nanoTime();
                Header id = record.headers().lastHeader(ID_HEADER);
                if (id != null) {
                    seenAt.putIfAbsent(new String(id.value(), UTF_8), now);
                }
            }
        }
        consumer.close();
    }

    /** When each event was seen so far, by its id, as a reading of nanoTime. */
    Map<String, Long> seenAt() {
        return seenAt;
    }

    @Override
    public void close() {
        ending = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
