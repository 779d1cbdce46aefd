// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

class KafkaTapTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    @Test
    void itRecordsEveryRecordOnceOverARestartOfTheBrokerAndABrokerMaySitBehindAProxy() throws Exception {
        try (TcpProxy proxy = TcpProxy.open();
                KafkaServer kafka = KafkaServer.builder()
                        .advertised(proxy.host(), proxy.port())
                        .partitions(3)
                        .start()) {
            proxy.forwardTo("127.0.0.1", kafka.port());
            assertThat(kafka.bootstrapServers()).isEqualTo("127.0.0.1:" + proxy.port());
            DeliveryLog log = DeliveryLog.inMemory();
            try (KafkaTap tap = KafkaTap.start(kafka.directBootstrapServers(), log, "ledger", "other");
                    KafkaProducer<String, String> producer = producer(kafka.bootstrapServers())) {
                List<UUID> ids = new ArrayList<>();
                ids.addAll(send(producer, "ledger", 1, 50));
                tap.awaitCount(50, LONG);
                kafka.stop();
                kafka.startAgain();
                ids.addAll(send(producer, "ledger", 51, 50));
                ids.addAll(send(producer, "other", 1, 10));
                tap.awaitDistinct(110, LONG);

                proxy.blackHole();
                Future<?> stuck = producer.send(record("ledger", 101, UUID.randomUUID()));
                assertThatThrownBy(() -> stuck.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
                proxy.pass();
                stuck.get(20, TimeUnit.SECONDS);
                tap.awaitDistinct(111, LONG);

                assertThat(log.entries()).hasSize(111);
                assertThat(log.entries()).extracting(DeliveryLog.Entry::eventId).containsAll(ids);
                assertThat(log.entries().stream().filter(entry -> entry.key().equals("ledger")))
                        .extracting(DeliveryLog.Entry::seq)
                        .isSorted();
                assertThatThrownBy(() -> tap.awaitCount(200, Duration.ofMillis(50)))
                        .hasMessageContaining("Expected 200 deliveries")
                        .hasMessageContaining("saw 111 of 111 events");
            }
        }
    }

    private static List<UUID> send(KafkaProducer<String, String> producer, String topic, int first, int count)
            throws Exception {
        List<UUID> ids = new ArrayList<>();
        for (int i = first; i < first + count; i++) {
            UUID id = UUID.randomUUID();
            producer.send(record(topic, i, id)).get(20, TimeUnit.SECONDS);
            ids.add(id);
        }
        return ids;
    }

    private static ProducerRecord<String, String> record(String topic, long seq, UUID id) {
        ProducerRecord<String, String> record =
                new ProducerRecord<>(topic, topic, new LedgerPayload(topic, seq, "").json());
        record.headers().add(KafkaTap.EVENT_ID_HEADER, id.toString().getBytes(StandardCharsets.UTF_8));
        return record;
    }

    private static KafkaProducer<String, String> producer(String address) {
        return new KafkaProducer<>(
                Map.of("bootstrap.servers", address, "linger.ms", 0), new StringSerializer(), new StringSerializer());
    }
}
