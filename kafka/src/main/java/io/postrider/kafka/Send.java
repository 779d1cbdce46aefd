// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.relay.PublishException;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/** One record on its way and the stage that says how it ended. Answered once; later answers change nothing. */
final class Send {
    private final ProducerRecord<byte[], byte[]> record;
    private final SendRun run;
    private final CompletableFuture<RecordMetadata> answer = new CompletableFuture<>();
    private final long acceptedAt = System.nanoTime();
    private volatile long handedOverAt;
    private volatile @Nullable RuntimeException blockedBy;

    Send(ProducerRecord<byte[], byte[]> record, SendRun run) {
        this.record = record;
        this.run = run;
    }

    ProducerRecord<byte[], byte[]> record() {
        return record;
    }

    SendRun run() {
        return run;
    }

    String topic() {
        return record.topic();
    }

    CompletableFuture<RecordMetadata> answer() {
        return answer;
    }

    void taken(RecordMetadata where) {
        answer.complete(where);
    }

    /** Ends its run, before anybody can hear of it. */
    void failed(PublishException failure) {
        run.end();
        answer.completeExceptionally(failure);
    }

    /** Starts the time in which an answer is due. */
    void handedOver() {
        handedOverAt = System.nanoTime();
    }

    boolean unansweredFor(long nanos, long now) {
        return now - handedOverAt >= nanos;
    }

    /** Remembers why no producer could take it just now. */
    void blocked(RuntimeException reason) {
        blockedBy = reason;
    }

    @Nullable
    RuntimeException blockedBy() {
        return blockedBy;
    }

    boolean waitingFor(long nanos, long now) {
        return now - acceptedAt >= nanos;
    }
}
