// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

class KafkaServerTest {

    @Test
    void aBrokerInThisJvmKeepsItsRecordsOverARestart() throws Exception {
        try (KafkaServer kafka =
                KafkaServer.builder().setting("message.max.bytes", "2000").start()) {
            kafka.createTopic("orders", 1);
            send(kafka.bootstrapServers(), "orders", "first");
            String address = kafka.bootstrapServers();

            kafka.stop();
            kafka.startAgain();

            assertThat(kafka.bootstrapServers()).isEqualTo(address);
            send(address, "orders", "second");
            assertThat(read(address, "orders", 2)).containsExactly("first", "second");
            assertThatThrownBy(() -> send(address, "orders", "x".repeat(5_000)))
                    .hasCauseInstanceOf(RecordTooLargeException.class);
            assertThatThrownBy(kafka::kill)
                    .hasMessage("A broker inside this JVM cannot be killed. Start it with startProcess().");
        }
    }

    @Test
    void aBrokerInItsOwnJvmKeepsItsRecordsWhenItIsKilledAndAnswersNothingWhileItIsPaused() throws Exception {
        OsProcess broker;
        try (KafkaServer kafka = KafkaServer.builder().autoCreateTopics(false).startProcess()) {
            kafka.createTopic("orders", 1, Map.of("max.message.bytes", "100000"));
            String address = kafka.bootstrapServers();
            send(address, "orders", "first");

            kafka.kill();
            kafka.startAgain();

            send(address, "orders", "second");
            assertThat(read(address, "orders", 2)).containsExactly("first", "second");

            try (KafkaProducer<String, String> producer = producer(address, 20_000)) {
                // A producer asks for the topic's metadata first, and blocks on that.
                producer.partitionsFor("orders");
                kafka.pause();
                Future<?> answer = producer.send(new ProducerRecord<>("orders", "third"));
                assertThatThrownBy(() -> answer.get(500, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
                kafka.resume();
                answer.get(20, TimeUnit.SECONDS);
            }
            assertThatThrownBy(() -> sendWithin(500, address, "nowhere", "x")).hasStackTraceContaining("nowhere");
            broker = new OsProcess(kafka.pid());
        }
        assertThat(broker.isGone()).isTrue();
    }

    private static void send(String address, String topic, String value)
            throws InterruptedException, ExecutionException {
        sendWithin(20_000, address, topic, value);
    }

    private static void sendWithin(int millis, String address, String topic, String value)
            throws InterruptedException, ExecutionException {
        try (KafkaProducer<String, String> producer = producer(address, millis)) {
            producer.send(new ProducerRecord<>(topic, value)).get();
        }
    }

    private static KafkaProducer<String, String> producer(String address, int blockMillis) {
        return new KafkaProducer<>(
                Map.of(
                        "bootstrap.servers", address,
                        "max.block.ms", blockMillis,
                        "delivery.timeout.ms", 20_000,
                        "request.timeout.ms", 10_000,
                        "linger.ms", 0),
                new StringSerializer(),
                new StringSerializer());
    }

    private static List<String> read(String address, String topic, int count) {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", address), new StringDeserializer(), new StringDeserializer())) {
            TopicPartition partition = new TopicPartition(topic, 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            List<String> values = new ArrayList<>();
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (values.size() < count && System.nanoTime() < deadline) {
                consumer.poll(Duration.ofMillis(200)).forEach(record -> values.add(record.value()));
            }
            return values;
        }
    }
}
