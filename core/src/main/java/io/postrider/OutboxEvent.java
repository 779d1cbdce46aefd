// SPDX-License-Identifier: Apache-2.0
package io.postrider;

import io.postrider.internal.EventRules;
import io.postrider.internal.TimeOrderedId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One event: what is stored in the application's transaction, and later handed to the publisher byte for byte.
 *
 * <pre>{@code
 * OutboxEvent.of("order-events", "OrderPlaced").aggregate("Order", orderId).json(body).build();
 * }</pre>
 *
 * <p>Events with the same stream and key are delivered in order. The key is the aggregate id unless {@link Builder#key}
 * says otherwise; an event with neither has no key, is ordered with nothing and holds nobody back.
 *
 * <p>Immutable, provided that nobody changes the payload array, which is not copied.
 */
public final class OutboxEvent {
    private final UUID id;
    private final String stream;
    private final String type;
    private final @Nullable String key;
    private final @Nullable String aggregateType;
    private final @Nullable String aggregateId;
    private final byte @Nullable [] payload;
    private final @Nullable String contentType;
    private final Map<String, String> headers;
    private final Instant occurredAt;
    private final @Nullable Instant notBefore;
    private final @Nullable Duration delay;
    private final @Nullable Integer maxAttempts;
    private final @Nullable Instant expiresAt;
    private final @Nullable Duration expiresIn;
    private final @Nullable String dedupKey;

    private OutboxEvent(Builder b) {
        id = b.id == null ? TimeOrderedId.next() : b.id;
        stream = b.stream;
        type = b.type;
        key = b.key == null && !b.unkeyed ? b.aggregateId : b.key;
        aggregateType = b.aggregateType;
        aggregateId = b.aggregateId;
        payload = b.payload;
        contentType = b.contentType;
        headers = b.headers.isEmpty() ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(b.headers));
        // PostgreSQL keeps microseconds: cut here, so that the stored event equals the one that was built.
        occurredAt = (b.occurredAt == null ? Instant.now() : b.occurredAt).truncatedTo(ChronoUnit.MICROS);
        notBefore = b.notBefore;
        delay = b.delay;
        maxAttempts = b.maxAttempts;
        expiresAt = b.expiresAt;
        expiresIn = b.expiresIn;
        dedupKey = b.dedupKey;
    }

    /**
     * Starts an event.
     *
     * @param stream where it belongs; for Kafka the topic unless mapped
     * @param type what happened, such as {@code OrderPlaced}
     */
    public static Builder of(String stream, String type) {
        return new Builder(stream, type);
    }

    /** The identity under which consumers recognise duplicates; time-ordered (UUID version 7) unless given. */
    public UUID id() {
        return id;
    }

    public String stream() {
        return stream;
    }

    public String type() {
        return type;
    }

    /** Events of one stream with the same key are delivered in order; empty: ordered with nothing. */
    public Optional<String> key() {
        return Optional.ofNullable(key);
    }

    public Optional<String> aggregateType() {
        return Optional.ofNullable(aggregateType);
    }

    public Optional<String> aggregateId() {
        return Optional.ofNullable(aggregateId);
    }

    /** The bytes as they were appended; {@code null} is a tombstone. Not a copy: do not change them. */
    public byte @Nullable [] payload() {
        return payload;
    }

    public Optional<String> contentType() {
        return Optional.ofNullable(contentType);
    }

    /** In the order in which they were added; an event that was read back has them in an order of the database. */
    public Map<String, String> headers() {
        return headers;
    }

    /** When it happened according to the writer; information for consumers that decides nothing here. */
    public Instant occurredAt() {
        return occurredAt;
    }

    /** Not to be delivered before this time on the database's clock. */
    public Optional<Instant> notBefore() {
        return Optional.ofNullable(notBefore);
    }

    /** Not to be delivered before this much time has passed since the append, counted by the database. */
    public Optional<Duration> delay() {
        return Optional.ofNullable(delay);
    }

    /** How often its delivery may fail before it is dead; empty: what the relay's retry policy says. */
    public OptionalInt maxAttempts() {
        return maxAttempts == null ? OptionalInt.empty() : OptionalInt.of(maxAttempts);
    }

    /** Not to be delivered from this time on, on the database's clock. */
    public Optional<Instant> expiresAt() {
        return Optional.ofNullable(expiresAt);
    }

    /** Not to be delivered any more when this much time has passed since the append, counted by the database. */
    public Optional<Duration> expiresIn() {
        return Optional.ofNullable(expiresIn);
    }

    /** While an event of this stream and dedup key is neither delivered nor dead, another is not appended. */
    public Optional<String> dedupKey() {
        return Optional.ofNullable(dedupKey);
    }

    /** The size of the payload in bytes; 0 for a tombstone. */
    public int payloadSize() {
        return payload == null ? 0 : payload.length;
    }

    /** Names the event without its payload, its headers or anything else that may be confidential. */
    @Override
    public String toString() {
        return "event " + type + " " + id + " (stream " + stream + (key == null ? "" : ", key " + key) + ")";
    }

    /** Collects what an event consists of; not thread-safe. */
    public static final class Builder {
        private final String stream;
        private final String type;
        private @Nullable UUID id;
        private @Nullable String key;
        private boolean unkeyed;
        private @Nullable String aggregateType;
        private @Nullable String aggregateId;
        private byte @Nullable [] payload;
        private @Nullable String contentType;
        private final Map<String, String> headers = new LinkedHashMap<>();
        private @Nullable Instant occurredAt;
        private @Nullable Instant notBefore;
        private @Nullable Duration delay;
        private @Nullable Integer maxAttempts;
        private @Nullable Instant expiresAt;
        private @Nullable Duration expiresIn;
        private @Nullable String dedupKey;

        private Builder(String stream, String type) {
            this.stream = Objects.requireNonNull(stream, "stream");
            this.type = Objects.requireNonNull(type, "type");
        }

        public Builder id(UUID id) {
            this.id = Objects.requireNonNull(id, "id");
            return this;
        }

        /** Orders this event after the earlier ones with the same stream and key. */
        public Builder key(String key) {
            this.key = Objects.requireNonNull(key, "key");
            return this;
        }

        /** Orders this event with no other, although it has an aggregate. */
        public Builder unkeyed() {
            this.key = null;
            this.unkeyed = true;
            return this;
        }

        /** Names what the event is about; its id is also the key unless {@link #key} is called. */
        public Builder aggregate(String type, Object id) {
            this.aggregateType = Objects.requireNonNull(type, "aggregate type");
            this.aggregateId = Objects.requireNonNull(id, "aggregate id").toString();
            return this;
        }

        public Builder payload(byte[] payload, String contentType) {
            this.payload = Objects.requireNonNull(payload, "payload");
            this.contentType = Objects.requireNonNull(contentType, "content type");
            return this;
        }

        /** A payload whose content type the consumers know. */
        public Builder payload(byte[] payload) {
            this.payload = Objects.requireNonNull(payload, "payload");
            this.contentType = null;
            return this;
        }

        /** A payload that is JSON already. */
        public Builder json(String json) {
            return payload(json.getBytes(StandardCharsets.UTF_8), "application/json");
        }

        public Builder text(String text) {
            return payload(text.getBytes(StandardCharsets.UTF_8), "text/plain; charset=utf-8");
        }

        /** No payload: to a compacted topic this says that the key is gone. The default. */
        public Builder tombstone() {
            this.payload = null;
            this.contentType = null;
            return this;
        }

        public Builder header(String name, String value) {
            headers.put(Objects.requireNonNull(name, "header name"), Objects.requireNonNull(value, "header value"));
            return this;
        }

        public Builder headers(Map<String, String> headers) {
            headers.forEach(this::header);
            return this;
        }

        public Builder occurredAt(Instant occurredAt) {
            this.occurredAt = Objects.requireNonNull(occurredAt, "occurredAt");
            return this;
        }

        /** Holds this event back until the database's clock reads this time; later events of its key do not wait. */
        public Builder notBefore(Instant notBefore) {
            this.notBefore = Objects.requireNonNull(notBefore, "notBefore");
            this.delay = null;
            return this;
        }

        /** Holds this event back for this long after the append; later events of its key do not wait. */
        public Builder delay(Duration delay) {
            this.delay = Objects.requireNonNull(delay, "delay");
            this.notBefore = null;
            return this;
        }

        public Builder maxAttempts(int maxAttempts) {
            this.maxAttempts = maxAttempts;
            return this;
        }

        /**
         * Has this event not sent any more when its turn comes at this time of the database's clock or later: it is dead
         * then ({@code EXPIRED}) and holds nobody.
         */
        public Builder expiresAt(Instant expiresAt) {
            this.expiresAt = Objects.requireNonNull(expiresAt, "expiresAt");
            this.expiresIn = null;
            return this;
        }

        /** As {@link #expiresAt}, this long after the append, counted by the database. */
        public Builder expiresIn(Duration expiresIn) {
            this.expiresIn = Objects.requireNonNull(expiresIn, "expiresIn");
            this.expiresAt = null;
            return this;
        }

        /**
         * Makes this append do nothing if an event with the same stream and dedup key is neither delivered nor dead yet; one
         * that is on its way at this moment counts.
         */
        public Builder dedupKey(String dedupKey) {
            this.dedupKey = Objects.requireNonNull(dedupKey, "dedupKey");
            return this;
        }

        /**
         * Builds the event.
         *
         * @throws OutboxException naming the first limit that it breaks
         */
        public OutboxEvent build() {
            OutboxEvent event = new OutboxEvent(this);
            EventRules.check(event);
            return event;
        }

        /** Builds an event that a feed has read back: it passed the checks of its day, and is delivered as it is. */
        public OutboxEvent buildStored() {
            aggregateType = "".equals(aggregateType) ? null : aggregateType;
            aggregateId = "".equals(aggregateId) ? null : aggregateId;
            return new OutboxEvent(this);
        }
    }
}
