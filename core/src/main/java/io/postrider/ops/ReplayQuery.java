// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Which delivered events of a stream are meant; what is not given matches all.
 *
 * @param from delivered then or later
 * @param to delivered before
 * @param afterRow only rows behind this one: where an earlier replay ended
 */
public record ReplayQuery(
        String stream, @Nullable String key, @Nullable String type, Instant from, Instant to, long afterRow) {
    private static final Instant FIRST = Instant.parse("1970-01-01T00:00:00Z");
    private static final Instant LAST = Instant.parse("9999-01-01T00:00:00Z");

    public ReplayQuery {
        if (!from.isBefore(to)) {
            throw new IllegalArgumentException(
                    "Nothing was delivered from " + from + " to " + to + ", since the end is not after the beginning.");
        }
    }

    public static ReplayQuery of(String stream) {
        return new ReplayQuery(stream, null, null, FIRST, LAST, 0);
    }

    public ReplayQuery key(@Nullable String key) {
        return new ReplayQuery(stream, key, type, from, to, afterRow);
    }

    public ReplayQuery type(@Nullable String type) {
        return new ReplayQuery(stream, key, type, from, to, afterRow);
    }

    public ReplayQuery from(Instant from) {
        return new ReplayQuery(stream, key, type, from, to, afterRow);
    }

    public ReplayQuery to(Instant to) {
        return new ReplayQuery(stream, key, type, from, to, afterRow);
    }

    public ReplayQuery afterRow(long afterRow) {
        return new ReplayQuery(stream, key, type, from, to, afterRow);
    }
}
