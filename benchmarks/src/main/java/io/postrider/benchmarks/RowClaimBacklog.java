// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
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
 * for all answers, mark the batch as published, and never sleep. Like ours it has a unique event id, serves a stream, and finds
 * what a dead worker has left, by its lock. It keeps no order of keys and no history of its own.
 */
final class RowClaimBacklog implements Backlog {
    private static final int THREADS = 4;
    private static final int BATCH = 1_000;
    /** By each of the threads. */
    private static final long RECOVER_EVERY = Duration.ofSeconds(THREADS).toNanos();

    private static final String TABLE = """
            CREATE TABLE IF NOT EXISTS row_claim (
                id             bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                event_id       uuid        NOT NULL UNIQUE,
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

    private static final String PENDING =
            "CREATE INDEX IF NOT EXISTS row_claim_pending ON row_claim (stream, next_retry_at, id) WHERE status = 'PENDING'";

    private static final String PROCESSING =
            "CREATE INDEX IF NOT EXISTS row_claim_processing ON row_claim (locked_until) WHERE status = 'PROCESSING'";

    private static final String CLAIM = """
            WITH next AS MATERIALIZED (
                SELECT id FROM row_claim
                WHERE stream = ? AND status = 'PENDING' AND next_retry_at <= clock_timestamp()
                ORDER BY next_retry_at, id LIMIT ? FOR UPDATE SKIP LOCKED
            )
            UPDATE row_claim
            SET status = 'PROCESSING', locked_by = ?, locked_until = clock_timestamp() + interval '30 seconds',
                attempts = attempts + 1
            WHERE id IN (SELECT id FROM next)
            RETURNING\s""" + PlainProducer.COLUMNS;

    /** Once a second: what a worker that died had claimed. */
    private static final String RECOVER = """
            UPDATE row_claim SET status = 'PENDING', locked_by = NULL, locked_until = NULL
            WHERE status = 'PROCESSING' AND locked_until < clock_timestamp()
            """;

    private static final String PUBLISHED = """
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
        rig.sql(TABLE, PENDING, PROCESSING);
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
        try (Producer<byte[], byte[]> producer = PlainProducer.open(rig.bootstrapServers())) {
            return work(rig, batch -> {
                List<Future<RecordMetadata>> answers = new ArrayList<>();
                batch.forEach(record -> answers.add(producer.send(record)));
                for (Future<RecordMetadata> answer : answers) {
                    answer.get();
                }
            });
        }
    }

    /** What becomes of a batch that was claimed. */
    interface Sender {
        void send(List<ProducerRecord<byte[], byte[]>> batch) throws Exception;
    }

    /** Until nothing is left; returns how many nanoseconds it took. */
    static long work(Rig rig, Sender sender) throws Exception {
        long start = System.nanoTime();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> workers = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int worker = i;
                workers.add(threads.submit(() -> {
                    work(rig, worker, sender);
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

    private static void work(Rig rig, int worker, Sender sender) throws Exception {
        try (Connection connection = rig.dataSource().getConnection();
                PreparedStatement claim = connection.prepareStatement(CLAIM);
                PreparedStatement published = connection.prepareStatement(PUBLISHED);
                PreparedStatement recover = connection.prepareStatement(RECOVER)) {
            claim.setString(1, Rig.TOPIC);
            claim.setInt(2, BATCH);
            claim.setString(3, "worker-" + worker);
            List<Long> ids = new ArrayList<>();
            // By turns.
            long recovered = System.nanoTime() - Duration.ofSeconds(worker).toNanos();
            for (List<ProducerRecord<byte[], byte[]>> batch = claim(claim, ids);
                    !batch.isEmpty();
                    batch = claim(claim, ids)) {
                sender.send(batch);
                published.setArray(1, connection.createArrayOf("int8", ids.toArray()));
                published.executeUpdate();
                if (System.nanoTime() - recovered > RECOVER_EVERY) {
                    recover.executeUpdate();
                    recovered = System.nanoTime();
                }
            }
        }
    }

    private static List<ProducerRecord<byte[], byte[]>> claim(PreparedStatement claim, List<Long> ids)
            throws SQLException {
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
