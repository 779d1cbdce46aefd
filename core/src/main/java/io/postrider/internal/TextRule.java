// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** What every text that is stored and shown must keep to: not empty, not too long, no control characters. */
final class TextRule {
    private static final int SHOWN = 64;

    private TextRule() {}

    /** What is wrong, and what to do about it. */
    record Broken(String what, String advice) {}

    /** The first rule that this text breaks, if any; {@code name} says what it is. */
    static Optional<Broken> check(String name, String value, int maxBytes) {
        if (value.isBlank()) {
            return Optional.of(new Broken(name + " is empty", "Give it a value."));
        }
        int bytes = value.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > maxBytes) {
            return Optional.of(
                    new Broken(name + " has " + bytes + " bytes and the limit is " + maxBytes, "Shorten it."));
        }
        for (int i = 0; i < value.length(); i++) {
            if (Character.isISOControl(value.charAt(i))) {
                String code = String.format("%04X", (int) value.charAt(i));
                return Optional.of(
                        new Broken(name + " has a control character (U+" + code + ") at position " + i, "Remove it."));
            }
        }
        return Optional.empty();
    }

    /** As much of it as may be shown in a message. */
    static String shown(String value) {
        String clean = value.replaceAll("\\p{Cc}", "?");
        return clean.length() <= SHOWN ? clean : clean.substring(0, SHOWN) + "…";
    }
}
