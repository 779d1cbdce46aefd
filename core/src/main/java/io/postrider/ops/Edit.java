// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a dead letter shall say from now on; what is not given stays as it is. Immutable.
 *
 * <pre>{@code
 * Edit.none().payload(fixed).contentType("application/json")
 * }</pre>
 */
public final class Edit {
    private final boolean otherPayload;
    private final byte @Nullable [] payload;
    private final @Nullable String contentType;
    private final @Nullable Map<String, String> headers;

    private Edit(
            boolean otherPayload,
            byte @Nullable [] payload,
            @Nullable String contentType,
            @Nullable Map<String, String> headers) {
        this.otherPayload = otherPayload;
        this.payload = payload;
        this.contentType = contentType;
        this.headers = headers;
    }

    /** Leaves everything as it is. */
    public static Edit none() {
        return new Edit(false, null, null, null);
    }

    public Edit payload(byte[] other) {
        return new Edit(true, other.clone(), contentType, headers);
    }

    /** No payload at all. */
    public Edit tombstone() {
        return new Edit(true, null, contentType, headers);
    }

    public Edit contentType(String other) {
        return new Edit(otherPayload, payload, other, headers);
    }

    /** All headers anew, not those in addition. */
    public Edit headers(Map<String, String> all) {
        return new Edit(otherPayload, payload, contentType, new LinkedHashMap<>(all));
    }

    boolean otherPayload() {
        return otherPayload;
    }

    byte @Nullable [] payload() {
        return payload;
    }

    @Nullable
    String contentType() {
        return contentType;
    }

    @Nullable
    Map<String, String> headers() {
        return headers;
    }

    /** By the same rules as when it was appended. */
    void check(DeadLetter letter) {
        OutboxEvent.Builder changed = OutboxEvent.of(letter.stream(), letter.type());
        if (headers != null) {
            changed.headers(headers);
        }
        if (contentType != null) {
            changed.payload(new byte[0], contentType);
        }
        try {
            changed.build();
        } catch (OutboxException e) {
            throw new OutboxException("Dead letter " + letter.eventId() + " was not edited. " + e.getMessage(), e);
        }
    }
}
