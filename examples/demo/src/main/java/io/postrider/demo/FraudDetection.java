// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Analyses every transfer exactly once, although Kafka may deliver it twice: the event's id is the primary key of what it
 * writes, so a duplicate changes nothing.
 */
final class FraudDetection implements AutoCloseable {
    private static final String EVENT_ID = "postrider-event-id";
    private static final String ANALYSE = """
            INSERT INTO risk_log (event_id, account, sequence, cents, suspicious)
            SELECT ?, debtor, sequence, cents, cents > 99 * 100
            FROM jsonb_to_record(?::jsonb) AS transfer (debtor integer, sequence integer, cents bigint)
            ON CONFLICT (event_id) DO NOTHING""";

    private final DataSource dataSource;
    private final String bootstrapServers;
    private final Thread thread = new Thread(this::run, "fraud-detection");
    private final AtomicLong analysed = new AtomicLong();
    private final AtomicLong duplicates = new AtomicLong();
    private volatile boolean caughtUp;
    private volatile boolean stopped;

    FraudDetection(DataSource dataSource, String bootstrapServers) {
        this.dataSource = dataSource;
        this.bootstrapServers = bootstrapServers;
    }

    void start() {
        thread.setDaemon(true);
        thread.start();
    }

    long analysed() {
        return analysed.get();
    }

    /** Events that arrived once more and were dropped. */
    long duplicates() {
        return duplicates.get();
    }

    /** Whether it has read all that Kafka has. */
    boolean isCaughtUp() {
        return caughtUp;
    }

    private void run() {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", bootstrapServers, "group.id", "fraud-detection", "auto.offset.reset", "earliest");
        try (KafkaConsumer<String, String> consumer =
                        new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
                Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            consumer.subscribe(List.of(TransferService.STREAM));
            while (!stopped) {
                // Commits, now and then, the offsets of earlier batches: those are in the risk log by now.
                ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(100));
                analyse(connection, records);
                caughtUp = records.isEmpty() && hasNoLag(consumer);
            }
        } catch (SQLException e) {
            throw new IllegalStateException("Fraud detection could not write its risk log: " + e.getMessage(), e);
        }
    }

    /** One batch, one transaction. */
    private void analyse(Connection connection, ConsumerRecords<String, String> records) throws SQLException {
        if (records.isEmpty()) {
            return;
        }
        int fresh = 0;
        try (PreparedStatement statement = connection.prepareStatement(ANALYSE)) {
            for (ConsumerRecord<String, String> record : records) {
                statement.setObject(1, eventId(record));
                statement.setString(2, record.value());
                statement.addBatch();
            }
            for (int inserted : statement.executeBatch()) {
                fresh += inserted;
            }
        }
        connection.commit();
        duplicates.addAndGet(records.count() - fresh);
        analysed.addAndGet(fresh);
    }

    private static UUID eventId(ConsumerRecord<String, String> record) {
        byte[] id = record.headers().lastHeader(EVENT_ID).value();
        return UUID.fromString(new String(id, StandardCharsets.UTF_8));
    }

    private static boolean hasNoLag(KafkaConsumer<?, ?> consumer) {
        return !consumer.assignment().isEmpty()
                && consumer.assignment().stream()
                        .allMatch(partition -> consumer.currentLag(partition).orElse(1) == 0);
    }

    @Override
    public void close() {
        stopped = true;
        try {
            thread.join(Duration.ofSeconds(5).toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
