// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.OutboxEvent;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.List;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/** No outbox at all: the application sends after the commit, and what is lost in between is lost. */
final class BareCarrier implements Carrier {
    private final Rig rig;
    private @Nullable Producer<byte[], byte[]> producer;

    BareCarrier(Rig rig) {
        this.rig = rig;
    }

    @Override
    public String name() {
        return "bare";
    }

    @Override
    public void open() {
        producer = PlainProducer.open(rig.bootstrapServers());
    }

    @Override
    public void beforeCommit(Connection connection, OutboxEvent event) {}

    @Override
    public void afterCommit(OutboxEvent event) {
        if (producer == null) {
            throw new IllegalStateException("Open it first.");
        }
        byte[] key = event.key().orElseThrow().getBytes(StandardCharsets.UTF_8);
        var unused = producer.send(new ProducerRecord<>(
                Rig.TOPIC,
                null,
                null,
                key,
                event.payload(),
                List.of(PlainProducer.header(Listener.ID_HEADER, event.id().toString()))));
    }

    @Override
    public void close() {
        if (producer != null) {
            producer.close();
            producer = null;
        }
    }
}
