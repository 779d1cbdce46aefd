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
    private final CompletableFuture<RecordMetadata> answer = new CompletableFuture<>();
    private final long acceptedAt = System.nanoTime();
    private volatile long handedOverAt;
    private volatile @Nullable RuntimeException blockedBy;

    Send(ProducerRecord<byte[], byte[]> record) {
        this.record = record;
    }

    ProducerRecord<byte[], byte[]> record() {
        return record;
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

    void failed(PublishException failure) {
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
