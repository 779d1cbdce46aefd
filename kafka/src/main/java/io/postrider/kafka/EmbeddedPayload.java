// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;

/** A payload as the last field of a JSON object. */
final class EmbeddedPayload {
    private EmbeddedPayload() {}

    /** A payload that only claims to be JSON would break the document, or forge fields of it: then it is none. */
    static boolean isJson(OutboxEvent event, byte[] payload) {
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

    /** The whole document: its beginning, up to the field's colon, and the payload as it is. */
    static byte[] json(StringBuilder head, byte[] payload) {
        return join(head, payload, "}");
    }

    /** The whole document: its beginning, up to the field's colon, and the payload as a string. */
    static byte[] base64(StringBuilder head, byte[] payload) {
        return join(head.append('"'), Base64.getEncoder().encode(payload), "\"}");
    }

    private static byte[] join(StringBuilder head, byte[] payload, String tail) {
        byte[] first = head.toString().getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream out = new ByteArrayOutputStream(first.length + payload.length + tail.length());
        out.writeBytes(first);
        out.writeBytes(payload);
        out.writeBytes(tail.getBytes(StandardCharsets.UTF_8));
        return out.toByteArray();
    }
}
