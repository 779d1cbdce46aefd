// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.serve;

import static io.postrider.cli.serve.ServerProcess.LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A relay server with a heap of 128 MB under load; run by hand, since it takes a minute: {@code ./mvnw test -pl cli -am
 * -Dtest=ServeLoad -Dsurefire.failIfNoSpecifiedTests=false}. Prints what came of it.
 */
class ServeLoad {
    private static final int RATE = 5_000;
    private static final Duration FOR = Duration.ofSeconds(60);
    private static final int BATCH = 100;
    private static final int PARTITIONS = 4;

    @Test
    void aHeapOf128MegabytesSuffices(@TempDir Path directory) throws IOException, SQLException {
        try (PostgresServer postgres = PostgresServer.start();
                KafkaServer kafka = KafkaServer.startProcess()) {
            PostgresServer.Database database = postgres.createDatabase();
            kafka.createTopic("load", PARTITIONS);
            String yaml = """
                    server: {port: 0}
                    databases:
                      load:
                        url: '%s'
                        schema-mode: migrate
                        relays:
                          - kafka: {bootstrap-servers: '%s'}
                    """.formatted(database.url(), kafka.bootstrapServers());
            try (ServerProcess server = ServerProcess.start(directory, yaml);
                    Connection connection = database.dataSource().getConnection()) {
                server.awaitReady();
                run(connection, server);
                assertThat(records(kafka)).isEqualTo((long) RATE * FOR.toSeconds());
            }
        }
    }

    private static void run(Connection connection, ServerProcess server) throws IOException, SQLException {
        long most = 0;
        long start = System.nanoTime();
        long batches = RATE * FOR.toSeconds() / BATCH;
        try (PreparedStatement insert = connection.prepareStatement(
                "INSERT INTO outbox_event (stream, event_key, event_type, payload) SELECT 'load', 'key-' || (n * 7919"
                        + " + ?) % 1000, 'Loaded', convert_to(repeat('x', 300), 'UTF8') FROM generate_series(1, ?) n")) {
            for (long batch = 0; batch < batches; batch++) {
                long due = start + batch * BATCH * 1_000_000_000L / RATE;
                while (System.nanoTime() - due < 0) {
                    LockSupport.parkNanos(due - System.nanoTime());
                }
                insert.setLong(1, batch);
                insert.setInt(2, BATCH);
                insert.executeUpdate();
                most = batch % (RATE / BATCH) == 0 ? Math.max(most, waiting(connection)) : most;
            }
        }
        double writing = (System.nanoTime() - start) / 1e9;
        Awaitility.await().atMost(LONG).until(() -> waiting(connection) == 0);
        double all = (System.nanoTime() - start) / 1e9;
        String peak = Files.readAllLines(Path.of("/proc/" + server.child().pid() + "/status")).stream()
                .filter(line -> line.startsWith("VmHWM"))
                .findFirst()
                .orElse("VmHWM: not known");
        assertThat(server.end()).isZero();
        System.out.printf(
                "%d events in %.1f s (%.0f/s), all delivered after %.1f s, at most %d waiting; %s%n",
                batches * BATCH, writing, batches * BATCH / writing, all, most, peak.replaceAll("\\s+", " "));
    }

    private static long waiting(Connection connection) throws SQLException {
        try (PreparedStatement count = connection.prepareStatement("SELECT count(*) FROM outbox_event");
                ResultSet rows = count.executeQuery()) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** As many as events, unless one was sent twice or is missing. */
    private static long records(KafkaServer kafka) {
        Map<String, Object> settings = Map.of("bootstrap.servers", kafka.bootstrapServers());
        List<TopicPartition> partitions = IntStream.range(0, PARTITIONS)
                .mapToObj(number -> new TopicPartition("load", number))
                .toList();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            return consumer.endOffsets(partitions).values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
        }
    }
}
