// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit.contract;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One message as its destination has it. Two with the same content are equal.
 *
 * @param key empty if it has none
 * @param payload empty for a tombstone
 * @param headers also those that the publisher adds
 */
public record Received(String stream, Optional<String> key, Optional<ByteBuffer> payload, Map<String, String> headers) {

    /** Copies the payload. */
    public static Received of(
            String stream, @Nullable String key, byte @Nullable [] payload, Map<String, String> headers) {
        return new Received(
                stream,
                Optional.ofNullable(key),
                Optional.ofNullable(payload)
                        .map(bytes -> ByteBuffer.wrap(bytes.clone()).asReadOnlyBuffer()),
                Map.copyOf(headers));
    }
}
