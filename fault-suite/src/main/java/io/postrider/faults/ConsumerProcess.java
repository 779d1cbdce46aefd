// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.jdbc.JdbcInbox;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A consumer of a topic in a process of its own, to be killed: notes each event and writes its effect, a row of the table
 * {@code effect}, in one transaction per poll, and commits its offsets after that.
 *
 * <p>Prints {@code batch} with its number and how many of all events it had seen before, and {@code idle} when a poll brings
 * nothing.
 */
public final class ConsumerProcess {
    private static final String CONSUMER = "effects";
    private static final Duration POLL = Duration.ofMillis(500);

    private final JdbcInbox inbox;
    private final Connection connection;
    private final int deadlyBatch;

    private ConsumerProcess(JdbcInbox inbox, Connection connection, int deadlyBatch) {
        this.inbox = inbox;
        this.connection = connection;
        this.deadlyBatch = deadlyBatch;
    }

    /**
     * Takes the database, the broker, the topic, and the number of the batch after which the process dies, between the commit
     * of the transaction and that of the offsets; 0: it lives.
     */
    public static void main(String[] args) throws SQLException {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(args[0]);
        try (Connection connection = source.getConnection();
                KafkaConsumer<byte[], byte[]> records = consumer(args[1])) {
            connection.setAutoCommit(false);
            records.subscribe(List.of(args[2]));
            new ConsumerProcess(JdbcInbox.of(source), connection, Integer.parseInt(args[3])).consume(records);
        }
    }

    /** A fixed member of its group, whose place is taken by its successor at once. */
    private static KafkaConsumer<byte[], byte[]> consumer(String broker) {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers",
                broker,
                "group.id",
                CONSUMER,
                "group.instance.id",
                "the-only-one",
                "enable.auto.commit",
                false,
                "auto.offset.reset",
                "earliest",
                "max.poll.records",
                100);
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private void consume(KafkaConsumer<byte[], byte[]> records) throws SQLException {
        int batch = 0;
        while (!Thread.currentThread().isInterrupted()) {
            ConsumerRecords<byte[], byte[]> polled = records.poll(POLL);
            if (polled.isEmpty()) {
                System.out.println("idle" + (records.assignment().isEmpty() ? " without a partition" : ""));
                continue;
            }
            for (ConsumerRecord<byte[], byte[]> record : polled) {
                UUID id = id(record);
                inbox.on(connection).once(CONSUMER, id, () -> effect(id));
            }
            connection.commit();
            System.out.println("batch " + ++batch + " seen before: " + inbox.duplicateCount());
            if (batch == deadlyBatch) {
                Runtime.getRuntime().halt(137);
            }
            records.commitSync();
        }
    }

    private void effect(UUID id) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO effect (event_id) VALUES (?)")) {
            insert.setObject(1, id);
            insert.executeUpdate();
        }
    }

    private static UUID id(ConsumerRecord<byte[], byte[]> record) {
        return UUID.fromString(
                new String(record.headers().lastHeader("postrider-event-id").value(), StandardCharsets.UTF_8));
    }
}
