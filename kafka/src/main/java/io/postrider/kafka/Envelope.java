// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The event as one JSON document, for consumers that read values and no headers. */
final class Envelope extends MessageFormat {
    private static final String VERSION = "1.0.0";

    @Override
    byte @Nullable [] value(OutboxEvent event) {
        byte[] payload = event.payload();
        if (payload == null) {
            return null;
        }
        StringBuilder head = new StringBuilder(256).append("{\"eventId\":");
        Json.quote(event.id().toString(), head);
        Json.quote(event.type(), head.append(",\"eventType\":"));
        quoteOrNull(event.aggregateId(), head.append(",\"aggregateId\":"));
        quoteOrNull(event.aggregateType(), head.append(",\"aggregateType\":"));
        Json.quote(event.occurredAt().toString(), head.append(",\"occurredAt\":"));
        Json.quote(VERSION, head.append(",\"version\":"));
        if (isJson(event, payload)) {
            return join(head.append(",\"payload\":"), payload, "}");
        }
        head.append(",\"payloadEncoding\":\"base64\",\"payloadContentType\":");
        quoteOrNull(event.contentType(), head);
        return join(head.append(",\"payload\":\""), Base64.getEncoder().encode(payload), "\"}");
    }

    @Override
    Optional<String> contentType(OutboxEvent event) {
        return event.payload() == null ? Optional.empty() : Optional.of("application/json");
    }

    /** A payload that only claims to be JSON would break the document, or forge fields of it: then it is base64. */
    private static boolean isJson(OutboxEvent event, byte[] payload) {
        String type = event.contentType().orElse("").toLowerCase(Locale.ROOT);
        String media = type.split(";", 2)[0].trim();
        if (!media.equals("application/json") && !media.endsWith("+json")) {
            return false;
        }
        try {
            return Json.isDocument(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(payload)));
        } catch (CharacterCodingException e) {
            return false;
        }
    }

    private static void quoteOrNull(Optional<String> value, StringBuilder out) {
        value.ifPresentOrElse(text -> Json.quote(text, out), () -> out.append("null"));
    }

    private static byte[] join(StringBuilder head, byte[] payload, String tail) {
        byte[] first = head.toString().getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream out = new ByteArrayOutputStream(first.length + payload.length + tail.length());
        out.writeBytes(first);
        out.writeBytes(payload);
        out.writeBytes(tail.getBytes(StandardCharsets.UTF_8));
        return out.toByteArray();
    }

    @Override
    public String toString() {
        return "envelope";
    }
}
