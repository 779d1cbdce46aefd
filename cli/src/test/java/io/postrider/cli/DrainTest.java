// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.cli.Shell.Result;
import io.postrider.testkit.KafkaServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One pass to a real Kafka; its exit code says what is left. */
class DrainTest {
    private static final Shell shell = Shell.migrated();
    private static KafkaServer kafka;

    @BeforeAll
    static void start() {
        kafka = KafkaServer.start();
        kafka.createTopic("orders", 1);
        kafka.createTopic("invoices", 1);
    }

    @AfterAll
    static void stop() {
        kafka.close();
    }

    @BeforeEach
    void clear() {
        shell.clear();
    }

    @Test
    void whatIsThereIsDelivered() {
        shell.event("orders", "k1", "");
        shell.event("orders", "k2", "");
        Result result = shell.type("drain", "--bootstrap-servers", kafka.bootstrapServers());
        assertThat(result.err()).isEmpty();
        assertThat(result.code()).isZero();
        assertThat(result.out()).isEqualTo("2 delivered, 0 to be tried again, 0 dead.\n");
        assertThat(shell.column("SELECT outcome FROM outbox_history")).containsExactly("PUBLISHED", "PUBLISHED");
    }

    @Test
    void whatIsHeldIsLeftOver() {
        shell.dead("orders", "k1");
        shell.event("orders", "k1", "");
        Result result = shell.type("drain", "--bootstrap-servers", kafka.bootstrapServers(), "--deadline", "20");
        assertThat(result.code()).isEqualTo(3);
        assertThat(result.err()).contains("something is left");
    }

    @Test
    void whatRunningRelaysOwnIsLeftToThem() {
        shell.event("orders", "k1", "");
        shell.execute("WITH r AS (INSERT INTO outbox_relay (name, relay_group, wants, ttl_ms, lease_until) VALUES"
                + " ('other', 'default', 'SHARDS', 60000, clock_timestamp() + interval '60 s') RETURNING id)"
                + " INSERT INTO outbox_shard (relay_group, shard, owner)"
                + " SELECT 'default', n, (SELECT id FROM r) FROM generate_series(0, 255) n");
        Result result = shell.type("drain", "--bootstrap-servers", kafka.bootstrapServers(), "--max", "5");
        assertThat(result.code()).isEqualTo(4);
        assertThat(result.err()).contains("belongs to running relays");
    }

    @Test
    void oneStreamAlone() {
        shell.event("invoices", "k1", "");
        shell.event("orders", "k1", "");
        Result result = shell.type("drain", "--bootstrap-servers", kafka.bootstrapServers(), "--stream", "orders");
        assertThat(result.err()).isEmpty();
        assertThat(result.code()).isZero();
        assertThat(result.out()).startsWith("1 delivered");
        assertThat(shell.column("SELECT stream FROM outbox_event")).containsExactly("invoices");
    }

    @Test
    void aStreamIsDrainedInItsOwnGroup() {
        shell.execute("INSERT INTO outbox_stream (stream, relay_group) VALUES ('invoices', 'billing')");
        shell.event("invoices", "k1", "");
        String servers = kafka.bootstrapServers();
        assertThat(shell.type("drain", "--bootstrap-servers", servers).out()).startsWith("0 delivered");
        assertThat(shell.type("drain", "--bootstrap-servers", servers, "--stream", "invoices", "--group", "other")
                        .err())
                .contains("Stream invoices belongs to group billing, not to other.");
        assertThat(shell.type("drain", "--bootstrap-servers", servers, "--stream", "invoices")
                        .out())
                .startsWith("1 delivered");
        shell.event("invoices", "k2", "");
        assertThat(shell.type("drain", "--bootstrap-servers", servers, "--group", "billing")
                        .out())
                .startsWith("1 delivered");
    }

    @Test
    void streamsThatNobodyHasSetUpAreNotLeftOverByAnotherGroup() {
        shell.execute("INSERT INTO outbox_stream (stream, relay_group) VALUES ('invoices', 'billing')");
        shell.event("invoices", "k1", "");
        shell.event("orders", "k1", "");
        Result result = shell.type("drain", "--bootstrap-servers", kafka.bootstrapServers(), "--group", "billing");
        assertThat(result.out()).startsWith("1 delivered");
        assertThat(result.err()).isEmpty();
        assertThat(result.code()).isZero();
    }

    @Test
    void aGroupWithoutStreamsIsRefused() {
        Result result = shell.type("drain", "--bootstrap-servers", kafka.bootstrapServers(), "--group", "nobody");
        assertThat(result.code()).isEqualTo(1);
        assertThat(result.err()).contains("Relay group 'nobody' has no streams");
    }

    @Test
    void aCompetingStreamIsNotForKafka() {
        shell.execute("INSERT INTO outbox_stream (stream, relay_group, mode) VALUES ('jobs', 'default', 'COMPETING')");
        Result result = shell.type("drain", "--bootstrap-servers", kafka.bootstrapServers(), "--stream", "jobs");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains("Stream jobs is a competing one");
    }

    @Test
    void kafkaMustBeNamed() {
        assertThat(shell.type("drain").code()).isEqualTo(2);
        assertThat(shell.type("drain", "--max", "0").code()).isEqualTo(2);
    }

    @Test
    void theFileOfAServerSaysHowToDeliver(@TempDir Path directory) throws IOException {
        kafka.createTopic("shop.orders", 1);
        kafka.createTopic("shop.dead", 1);
        Path file = Files.writeString(directory.resolve("postrider.yaml"), """
                databases:
                  shop:
                    url: %s
                    relays:
                      - kafka:
                          bootstrap-servers: '%s'
                          topics: {orders: shop.orders}
                          format: envelope
                          dead-letter-topic: shop.dead
                """.formatted(
                        shell.database().url(), kafka.bootstrapServers()));
        shell.event("orders", "k1", "");
        shell.event("orders", "k2", "expires_at = now() - interval '1 hour'");
        Result result = shell.type("drain", "--config", file.toString());
        assertThat(result.err()).isEmpty();
        assertThat(result.out()).isEqualTo("1 delivered, 0 to be tried again, 1 dead.\n");
        assertThat(read("shop.orders")).singleElement().asString().contains("\"payload\":");
        assertThat(read("shop.dead")).hasSize(1);
        Result missing = shell.type("drain", "--config", file.toString(), "--group", "billing");
        assertThat(missing.code()).isEqualTo(2);
        assertThat(missing.err()).contains("the file of a server that has a relay of group billing");
    }

    private static List<String> read(String topic) {
        Map<String, Object> settings = Map.of("bootstrap.servers", kafka.bootstrapServers());
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            TopicPartition partition = new TopicPartition(topic, 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            List<String> values = new ArrayList<>();
            while (consumer.position(partition)
                    < consumer.endOffsets(List.of(partition)).getOrDefault(partition, 0L)) {
                consumer.poll(Duration.ofMillis(200)).forEach(record -> values.add(record.value()));
            }
            return values;
        }
    }
}
