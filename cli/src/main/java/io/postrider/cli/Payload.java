// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** Bytes as people read them: as text where they are text, else in hexadecimal, and no more than a screenful. */
final class Payload {
    private static final int SHOWN_CHARACTERS = 4000;
    private static final int SHOWN_BYTES = 1000;

    private Payload() {}

    static String shown(byte @Nullable [] bytes) {
        if (bytes == null) {
            return "(none: a tombstone)";
        }
        String text = text(bytes);
        if (text == null) {
            String hex = HexFormat.of().formatHex(bytes, 0, Math.min(bytes.length, SHOWN_BYTES));
            return "(hexadecimal) " + hex + (bytes.length > SHOWN_BYTES ? "…" : "");
        }
        String start = text.length() > SHOWN_CHARACTERS ? text.substring(0, SHOWN_CHARACTERS) : text;
        return Shown.clean(start) + (text.length() > SHOWN_CHARACTERS ? "…" : "");
    }

    /** Null if it is no text. */
    static @Nullable String text(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }
}
