// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import io.postrider.testkit.KafkaServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A Kafka with the topics of all workers, or none. */
final class Broker implements AutoCloseable {
    private static final int PARTITIONS = 4;

    private final Optional<KafkaServer> server;

    Broker(boolean wanted) {
        server = wanted
                ? Optional.of(KafkaServer.builder()
                        .jvmOptions("-XX:TieredStopAtLevel=1")
                        .startProcess())
                : Optional.empty();
        server.ifPresent(kafka -> {
            for (Role role : Role.values()) {
                role.streams().forEach(stream -> kafka.createTopic(stream, PARTITIONS));
                kafka.createTopic(role.deadLetterTopic(), 1);
            }
        });
    }

    String address() {
        return server.map(KafkaServer::bootstrapServers).orElse(WorkerMain.NO_KAFKA);
    }

    /** How many events the workers could not handle. */
    long deadLetters() {
        if (server.isEmpty()) {
            return 0;
        }
        List<TopicPartition> topics = new ArrayList<>();
        for (Role role : Role.values()) {
            topics.add(new TopicPartition(role.deadLetterTopic(), 0));
        }
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", address()), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            return consumer.endOffsets(topics).values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
        }
    }

    @Override
    public void close() {
        server.ifPresent(KafkaServer::close);
    }
}
