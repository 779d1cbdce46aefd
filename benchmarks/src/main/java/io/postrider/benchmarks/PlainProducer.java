// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A producer with the settings of our publisher, and records with the same key, value and headers as ours. */
final class PlainProducer {
    /** What {@link #record} takes from a row. */
    static final String COLUMNS =
            "id, event_id, event_key, event_type, aggregate_type, aggregate_id, payload, content_type, occurred_at";

    private PlainProducer() {}

    static Producer<byte[], byte[]> open(String bootstrapServers) {
        Map<String, Object> settings = Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                bootstrapServers,
                ProducerConfig.ACKS_CONFIG,
                "all",
                ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
                true,
                ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION,
                1,
                ProducerConfig.LINGER_MS_CONFIG,
                0,
                ProducerConfig.BATCH_SIZE_CONFIG,
                128 * 1024,
                ProducerConfig.BUFFER_MEMORY_CONFIG,
                32L * 1024 * 1024);
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    static ProducerRecord<byte[], byte[]> record(ResultSet row) throws SQLException {
        List<Header> headers = List.of(
                header("postrider-event-id", row.getString(2)),
                header("postrider-event-type", row.getString(4)),
                header("postrider-aggregate-type", row.getString(5)),
                header("postrider-aggregate-id", row.getString(6)),
                header(
                        "postrider-occurred-at",
                        row.getObject(9, OffsetDateTime.class).toInstant().toString()),
                header("content-type", row.getString(8)));
        return new ProducerRecord<>(Rig.TOPIC, null, null, row.getString(3).getBytes(UTF_8), row.getBytes(7), headers);
    }

    static Header header(String name, String value) {
        return new RecordHeader(name, value.getBytes(UTF_8));
    }
}
