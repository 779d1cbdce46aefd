// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * The least that any outbox has to do: read on from the last id, send, delete what was acknowledged. Reading and sending
 * overlap with waiting and deleting. It survives no crash, no late commit and no failed send, and only one may run.
 */
final class FloorBacklog implements Backlog {
    private static final int BATCH = 4_000;
    private static final int BATCHES_UNDER_WAY = 2;

    private static final String TABLE = """
            CREATE TABLE floor (
                id             bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                event_id       uuid        NOT NULL,
                stream         text        NOT NULL,
                event_key      text        NOT NULL,
                event_type     text        NOT NULL,
                aggregate_type text,
                aggregate_id   text,
                payload        bytea,
                content_type   text,
                headers        jsonb       NOT NULL,
                occurred_at    timestamptz NOT NULL
            )
            """;

    private static final String READ =
            "SELECT " + PlainProducer.COLUMNS + " FROM floor WHERE id > ? ORDER BY id LIMIT " + BATCH;
    private static final String DELETE = "DELETE FROM floor WHERE id = ANY (?)";

    private final Rig rig;

    /** Sent rows and their answers to come; an empty one is the last. */
    private record Batch(List<Long> ids, List<Future<RecordMetadata>> answers) {}

    FloorBacklog(Rig rig) {
        this.rig = rig;
        rig.sql(TABLE);
    }

    @Override
    public String name() {
        return "floor";
    }

    @Override
    public String[] tables() {
        return new String[] {"floor"};
    }

    @Override
    public String countLeft() {
        return "SELECT count(*) FROM floor";
    }

    @Override
    public long drain(int events) throws Exception {
        long start = System.nanoTime();
        BlockingQueue<Batch> sent = new ArrayBlockingQueue<>(BATCHES_UNDER_WAY);
        ExecutorService remover = Executors.newSingleThreadExecutor();
        try (Producer<byte[], byte[]> producer = PlainProducer.open(rig.bootstrapServers());
                Connection connection = rig.dataSource().getConnection();
                PreparedStatement read = connection.prepareStatement(READ)) {
            Future<?> removed = remover.submit(() -> {
                remove(sent);
                return null;
            });
            long last = 0;
            for (Batch batch = send(read, last, producer); ; batch = send(read, last, producer)) {
                sent.put(batch);
                if (batch.ids().isEmpty()) {
                    break;
                }
                last = batch.ids().get(batch.ids().size() - 1);
            }
            removed.get();
            return System.nanoTime() - start;
        } finally {
            remover.shutdownNow();
        }
    }

    private static Batch send(PreparedStatement read, long last, Producer<byte[], byte[]> producer) throws Exception {
        Batch batch = new Batch(new ArrayList<>(), new ArrayList<>());
        read.setLong(1, last);
        try (ResultSet rows = read.executeQuery()) {
            while (rows.next()) {
                batch.ids().add(rows.getLong(1));
                batch.answers().add(producer.send(PlainProducer.record(rows)));
            }
        }
        return batch;
    }

    private void remove(BlockingQueue<Batch> sent) throws Exception {
        try (Connection connection = rig.dataSource().getConnection();
                PreparedStatement delete = connection.prepareStatement(DELETE)) {
            for (Batch batch = sent.take(); !batch.ids().isEmpty(); batch = sent.take()) {
                for (Future<RecordMetadata> answer : batch.answers()) {
                    answer.get();
                }
                delete.setArray(1, connection.createArrayOf("int8", batch.ids().toArray()));
                delete.executeUpdate();
            }
        }
    }
}
