// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Part of a real consumer that can end a poll with an error, as a class that is missing does. */
public final class MoodyInterceptor implements ConsumerInterceptor<byte[], byte[]> {
    static final AtomicInteger ERRORS = new AtomicInteger();

    @Override
    public ConsumerRecords<byte[], byte[]> onConsume(ConsumerRecords<byte[], byte[]> records) {
        if (ERRORS.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            throw new LinkageError("not today");
        }
        return records;
    }

    @Override
    public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {}

    @Override
    public void configure(Map<String, ?> configs) {}

    @Override
    public void close() {}
}
