// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.ops.DeadLetters;
import io.postrider.ops.EventContent;
import io.postrider.ops.History;
import io.postrider.ops.Undelivered;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Events as the API shows them. */
final class EventViews {
    private static final int SHOWN_TEXT = 1 << 20;
    private static final int SHOWN_BYTES = 4096;

    private final Redaction redaction;

    EventViews(Redaction redaction) {
        this.redaction = redaction;
    }

    static Map<String, @Nullable Object> event(Undelivered.Event event) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("row", event.id());
        json.put("event", event.eventId());
        json.put("stream", event.stream());
        json.put("type", event.type());
        json.put("key", event.key());
        json.put("aggregateType", event.aggregateType());
        json.put("aggregateId", event.aggregateId());
        json.put("state", event.state());
        json.put("holds", event.holdsKey());
        json.put("dueAt", event.dueAt());
        json.put("attempts", event.attempts());
        json.put("maxAttempts", event.maxAttempts());
        json.put("lastAttemptAt", event.lastAttemptAt());
        json.put("error", event.errorCode());
        json.put("errorMessage", event.errorMessage());
        json.put("createdAt", event.createdAt());
        json.put("revision", event.revision());
        json.put("contentType", event.contentType());
        json.put("expiresAt", event.expiresAt());
        json.put("dedupKey", event.dedupKey());
        return json;
    }

    static Map<String, @Nullable Object> entry(History.Entry entry) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("event", entry.eventId());
        json.put("stream", entry.stream());
        json.put("type", entry.type());
        json.put("key", entry.key());
        json.put("aggregateType", entry.aggregateType());
        json.put("aggregateId", entry.aggregateId());
        json.put("state", entry.outcome());
        json.put("settledAt", entry.settledAt());
        json.put("settledBy", entry.by());
        json.put("took", entry.took());
        json.put("attempts", entry.attempts());
        json.put("error", entry.errorCode());
        json.put("errorMessage", entry.errorMessage());
        json.put("createdAt", entry.createdAt());
        json.put("contentType", entry.contentType());
        return json;
    }

    static Map<String, Object> attempt(DeadLetters.Attempt attempt) {
        return Map.of(
                "at", attempt.at(),
                "relay", attempt.relay(),
                "error", attempt.errorCode(),
                "errorMessage", attempt.errorMessage());
    }

    /** What it says, as far as this role may see it. */
    Map<String, @Nullable Object> content(EventContent content, Role role) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        byte[] bytes = content.payload();
        json.put("headers", redaction.headers(content.headers(), role));
        json.put("payloadBytes", bytes == null ? null : bytes.length);
        json.put("payload", null);
        json.put("payloadRedacted", false);
        if (!role.includes(Role.OPERATOR)) {
            json.put("payloadKind", "FORBIDDEN");
        } else if (bytes == null) {
            json.put("payloadKind", content.payloadKept() ? "TOMBSTONE" : "NOT_KEPT");
        } else if (bytes.length > SHOWN_TEXT) {
            json.put("payloadKind", "TOO_LARGE");
        } else {
            payload(bytes, json);
        }
        return json;
    }

    private void payload(byte[] bytes, Map<String, @Nullable Object> json) {
        Optional<String> text = text(bytes);
        if (text.isPresent()) {
            Redaction.Text shown = redaction.payload(text.get());
            json.put("payloadKind", "TEXT");
            json.put("payload", shown.text());
            json.put("payloadRedacted", shown.redacted());
        } else {
            json.put("payloadKind", "BINARY");
            json.put("payload", HexFormat.of().formatHex(bytes, 0, Math.min(bytes.length, SHOWN_BYTES)));
        }
    }

    private static Optional<String> text(byte[] bytes) {
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }
}
