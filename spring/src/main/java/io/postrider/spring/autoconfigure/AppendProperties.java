// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How objects become payloads.
 *
 * @param valueSerializer Serializer of Kafka that writes them when they are appended; by default they are written as JSON.
 * @param contentType Content type of what it writes.
 * @param properties Settings of the serializer; they go before those of spring.kafka and of postrider.kafka.
 */
public record AppendProperties(
        @Nullable Class<?> valueSerializer,
        @DefaultValue("application/octet-stream") String contentType,
        @DefaultValue Map<String, String> properties) {

    /** Without the values of settings, some of which are secrets. */
    @Override
    public String toString() {
        return "AppendProperties[valueSerializer=" + valueSerializer + ", contentType=" + contentType + ", properties="
                + properties.keySet() + "]";
    }
}
