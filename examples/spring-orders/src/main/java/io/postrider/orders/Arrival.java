// SPDX-License-Identifier: Apache-2.0
package io.postrider.orders;

import com.fasterxml.jackson.annotation.JsonRawValue;
import io.postrider.kafka.HeaderNames;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/** A record as it came from Kafka. */
record Arrival(
        String eventId,
        String type,
        String key,
        int partition,
        long offset,
        @JsonRawValue String value) {

    static Arrival of(ConsumerRecord<String, String> record) {
        return new Arrival(
                header(record, HeaderNames.EVENT_ID),
                header(record, HeaderNames.EVENT_TYPE),
                record.key(),
                record.partition(),
                record.offset(),
                record.value());
    }

    private static String header(ConsumerRecord<?, ?> record, String name) {
        Header header = record.headers().lastHeader(name);
        return header == null ? "" : new String(header.value(), StandardCharsets.UTF_8);
    }
}
