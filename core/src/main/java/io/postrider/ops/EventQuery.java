// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/**
 * Which events to look for, among those not delivered or in the history; what is not given matches all.
 *
 * @param state of an undelivered event its {@link Undelivered.State}, of one in the history its outcome
 * @param since from when on: appended, or in the history delivered or discarded
 * @param until before when
 */
public record EventQuery(
        @Nullable String stream,
        @Nullable String type,
        @Nullable String key,
        @Nullable String aggregateType,
        @Nullable String aggregateId,
        @Nullable String errorCode,
        @Nullable String state,
        @Nullable Instant since,
        @Nullable Instant until) {

    /** Everything. */
    public static EventQuery all() {
        return new EventQuery(null, null, null, null, null, null, null, null, null);
    }

    public EventQuery stream(String stream) {
        return new EventQuery(stream, type, key, aggregateType, aggregateId, errorCode, state, since, until);
    }

    public EventQuery key(String key) {
        return new EventQuery(stream, type, key, aggregateType, aggregateId, errorCode, state, since, until);
    }

    public EventQuery between(@Nullable Instant since, @Nullable Instant until) {
        return new EventQuery(stream, type, key, aggregateType, aggregateId, errorCode, state, since, until);
    }

    /** Whether nothing but a stream and a key is asked for, which indexes answer. */
    boolean onlyStreamAndKey() {
        return type == null
                && aggregateType == null
                && aggregateId == null
                && errorCode == null
                && state == null
                && since == null
                && until == null;
    }

    static @Nullable OffsetDateTime time(@Nullable Instant instant) {
        return instant == null ? null : instant.atOffset(ZoneOffset.UTC);
    }

    static int checked(int limit) {
        if (limit < 1 || limit > 1000) {
            throw new IllegalArgumentException("A page has 1 to 1000 events, not " + limit + ".");
        }
        return limit;
    }
}
