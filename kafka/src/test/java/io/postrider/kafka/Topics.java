// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import io.postrider.relay.PublishException;
import io.postrider.testkit.KafkaServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** What the tests against a real broker share: events, answers, and what is in a topic. */
final class Topics {
    private Topics() {}

    static Map<String, Object> settings(KafkaServer kafka) {
        return new HashMap<>(Map.of("bootstrap.servers", kafka.bootstrapServers()));
    }

    static OutboxEvent event(String stream, int number) {
        return OutboxEvent.of(stream, "OrderPlaced")
                .aggregate("Order", "order-" + number)
                .json("{\"number\":" + number + "}")
                .build();
    }

    /** Waits for the destination's word that it has the event. */
    static void await(CompletionStage<?> answer) {
        try {
            answer.toCompletableFuture().get(30, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("not delivered: " + e.getCause(), e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("no answer", e);
        }
    }

    /** Waits for the failure of a send. */
    static PublishException failure(CompletionStage<?> answer) {
        try {
            Object where = answer.toCompletableFuture().get(30, TimeUnit.SECONDS);
            throw new AssertionError("delivered to " + where);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof PublishException failure) {
                return failure;
            }
            throw new AssertionError("not a failure of publishing", e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("no answer", e);
        }
    }

    /** The failure of a send when a broker has been heard of: until then it says only that none was in time. */
    static PublishException failureOnceHeardOf(Supplier<CompletionStage<?>> send) {
        PublishException failure = failure(send.get());
        for (int i = 0; i < 20 && failure.code().equals("NO_METADATA"); i++) {
            failure = failure(send.get());
        }
        return failure;
    }

    /** All that a topic holds now. */
    static List<ConsumerRecord<byte[], byte[]>> read(KafkaServer kafka, String topic) {
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings(kafka), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                    .map(partition -> new TopicPartition(topic, partition.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
            while (partitions.stream()
                    .anyMatch(partition -> consumer.position(partition) < ends.getOrDefault(partition, 0L))) {
                consumer.poll(Duration.ofMillis(200)).forEach(records::add);
            }
            return records;
        }
    }

    static ConsumerRecord<byte[], byte[]> readOnly(KafkaServer kafka, String topic) {
        List<ConsumerRecord<byte[], byte[]>> records = read(kafka, topic);
        if (records.size() != 1) {
            throw new AssertionError("topic " + topic + " has " + records.size() + " records");
        }
        return records.get(0);
    }

    static Map<String, String> headers(ConsumerRecord<byte[], byte[]> record) {
        Map<String, String> headers = new LinkedHashMap<>();
        record.headers().forEach(header -> headers.put(header.key(), text(header.value())));
        return headers;
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** The threads of this module and of the producers with this client id. */
    static List<String> threads(String clientId) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(Thread::isAlive)
                .map(Thread::getName)
                .filter(name -> name.startsWith("kafka-producer-network-thread | " + clientId))
                .toList();
    }

    static List<String> ownThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(Thread::isAlive)
                .map(Thread::getName)
                .filter(name -> name.startsWith("postrider-kafka-watchdog") || name.startsWith("postrider-kafka-prod"))
                .toList();
    }
}
