// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * What most outboxes do, well tuned: threads that each claim a batch of rows by an UPDATE with SKIP LOCKED, send it, wait
 * for all answers, mark the batch as published, and never sleep. It keeps no order of keys and no history of its own.
 */
final class RowClaimBacklog implements Backlog {
    static final int THREADS = 4;
    static final int BATCH = 1_000;

    private static final String TABLE = """
            CREATE TABLE IF NOT EXISTS row_claim (
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
                occurred_at    timestamptz NOT NULL,
                status         text        NOT NULL DEFAULT 'PENDING',
                locked_by      text,
                locked_until   timestamptz,
                attempts       integer     NOT NULL DEFAULT 0,
                next_retry_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
                last_error     text,
                created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
                published_at   timestamptz
            ) WITH (
                autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
                autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000,
                autovacuum_vacuum_cost_delay = 0
            )
            """;

    private static final String INDEX =
            "CREATE INDEX IF NOT EXISTS row_claim_pending ON row_claim (next_retry_at, id) WHERE status = 'PENDING'";

    static final String CLAIM = """
            WITH next AS MATERIALIZED (
                SELECT id FROM row_claim
                WHERE status = 'PENDING' AND next_retry_at <= clock_timestamp()
                ORDER BY next_retry_at, id LIMIT ? FOR UPDATE SKIP LOCKED
            )
            UPDATE row_claim
            SET status = 'PROCESSING', locked_by = ?, locked_until = clock_timestamp() + interval '30 seconds',
                attempts = attempts + 1
            WHERE id IN (SELECT id FROM next)
            RETURNING\s""" + PlainProducer.COLUMNS;

    static final String PUBLISHED = """
            UPDATE row_claim SET status = 'PUBLISHED', published_at = clock_timestamp(), locked_by = NULL,
                   locked_until = NULL
            WHERE id = ANY (?)
            """;

    static final String COUNT_LEFT = "SELECT count(*) FROM row_claim WHERE status <> 'PUBLISHED'";

    private final Rig rig;

    RowClaimBacklog(Rig rig) {
        this.rig = rig;
        makeTable(rig);
    }

    static void makeTable(Rig rig) {
        rig.sql(TABLE, INDEX);
    }

    @Override
    public String name() {
        return "row-claim";
    }

    @Override
    public String[] tables() {
        return new String[] {"row_claim"};
    }

    @Override
    public String countLeft() {
        return COUNT_LEFT;
    }

    @Override
    public long drain(int events) throws Exception {
        long start = System.nanoTime();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (Producer<byte[], byte[]> producer = PlainProducer.open(rig.bootstrapServers())) {
            List<Future<?>> workers = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                String worker = "worker-" + i;
                workers.add(threads.submit(() -> {
                    work(producer, worker);
                    return null;
                }));
            }
            for (Future<?> each : workers) {
                each.get();
            }
            return System.nanoTime() - start;
        } finally {
            threads.shutdown();
        }
    }

    private void work(Producer<byte[], byte[]> producer, String worker) throws Exception {
        try (Connection connection = rig.dataSource().getConnection();
                PreparedStatement claim = connection.prepareStatement(CLAIM);
                PreparedStatement published = connection.prepareStatement(PUBLISHED)) {
            claim.setInt(1, BATCH);
            claim.setString(2, worker);
            List<Long> ids = new ArrayList<>();
            for (List<ProducerRecord<byte[], byte[]>> batch = claim(claim, ids);
                    !batch.isEmpty();
                    batch = claim(claim, ids)) {
                List<Future<RecordMetadata>> answers = new ArrayList<>();
                batch.forEach(record -> answers.add(producer.send(record)));
                for (Future<RecordMetadata> answer : answers) {
                    answer.get();
                }
                published.setArray(1, connection.createArrayOf("int8", ids.toArray()));
                published.executeUpdate();
            }
        }
    }

    static List<ProducerRecord<byte[], byte[]>> claim(PreparedStatement claim, List<Long> ids) throws SQLException {
        ids.clear();
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (ResultSet rows = claim.executeQuery()) {
            while (rows.next()) {
                ids.add(rows.getLong(1));
                records.add(PlainProducer.record(rows));
            }
        }
        return records;
    }
}
