// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What the events of a ledger carry: their key, their number within it, and something to fill them. */
record LedgerPayload(String key, long seq, String padding) {
    /** Stands for a payload that no ledger wrote. */
    static final LedgerPayload FOREIGN = new LedgerPayload("?", -1, "");

    private static final Pattern START = Pattern.compile("\\{\"key\":\"([^\"]*)\",\"seq\":([0-9]+),\"padding\":");
    private static final int START_LIMIT = 600;

    String json() {
        return "{\"key\":\"" + key + "\",\"seq\":" + seq + ",\"padding\":\"" + padding + "\"}";
    }

    /** Reads key and number, and leaves the padding; {@link #FOREIGN} for anything else. */
    static LedgerPayload parse(byte @Nullable [] bytes) {
        if (bytes == null) {
            return FOREIGN;
        }
        String start = new String(bytes, 0, Math.min(bytes.length, START_LIMIT), StandardCharsets.UTF_8);
        Matcher matcher = START.matcher(start);
        return matcher.lookingAt()
                ? new LedgerPayload(matcher.group(1), Long.parseLong(matcher.group(2)), "")
                : FOREIGN;
    }

    /** A number that differs for different bytes; a tombstone has its own. */
    static long hash(byte @Nullable [] bytes) {
        MessageDigest digest = digest();
        digest.update((byte) (bytes == null ? 0 : 1));
        return first8(digest.digest(bytes == null ? new byte[0] : bytes));
    }

    /** A number that differs for different headers; their order counts. */
    static long hash(Map<String, String> headers) {
        MessageDigest digest = digest();
        headers.forEach((name, value) -> {
            digest.update(name.getBytes(StandardCharsets.UTF_8));
            digest.update((byte) 0);
            digest.update(value.getBytes(StandardCharsets.UTF_8));
            digest.update((byte) 0);
        });
        return first8(digest.digest());
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JVM has SHA-256", e);
        }
    }

    private static long first8(byte[] hash) {
        long value = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            value = value << 8 | (hash[i] & 0xff);
        }
        return value;
    }
}
