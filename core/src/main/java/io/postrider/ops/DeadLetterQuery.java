// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Which dead letters to look at; what is not given matches all.
 *
 * @param afterId only rows behind this one: the id of the last one of the page before
 * @param limit at most so many, 1 to 1,000
 */
public record DeadLetterQuery(
        @Nullable String stream,
        @Nullable String key,
        @Nullable String type,
        @Nullable String errorCode,
        @Nullable UUID eventId,
        long afterId,
        int limit) {

    public DeadLetterQuery {
        if (limit < 1 || limit > 1000) {
            throw new IllegalArgumentException("A page has 1 to 1000 dead letters, not " + limit + ".");
        }
    }

    /** The first 100. */
    public static DeadLetterQuery all() {
        return new DeadLetterQuery(null, null, null, null, null, 0, 100);
    }

    public DeadLetterQuery stream(String stream) {
        return new DeadLetterQuery(stream, key, type, errorCode, eventId, afterId, limit);
    }

    public DeadLetterQuery key(String key) {
        return new DeadLetterQuery(stream, key, type, errorCode, eventId, afterId, limit);
    }

    public DeadLetterQuery type(String type) {
        return new DeadLetterQuery(stream, key, type, errorCode, eventId, afterId, limit);
    }

    public DeadLetterQuery errorCode(String errorCode) {
        return new DeadLetterQuery(stream, key, type, errorCode, eventId, afterId, limit);
    }

    public DeadLetterQuery eventId(UUID eventId) {
        return new DeadLetterQuery(stream, key, type, errorCode, eventId, afterId, limit);
    }

    public DeadLetterQuery after(DeadLetter last) {
        return new DeadLetterQuery(stream, key, type, errorCode, eventId, last.id(), limit);
    }

    public DeadLetterQuery limit(int limit) {
        return new DeadLetterQuery(stream, key, type, errorCode, eventId, afterId, limit);
    }
}
