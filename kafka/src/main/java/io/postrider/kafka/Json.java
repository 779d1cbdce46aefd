// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import java.util.BitSet;

/** The little JSON that the formats need: quoting a string, and telling whether a text is one whole document. */
final class Json {
    private final CharSequence text;
    private int at;

    /** Open objects (set) and arrays (clear), innermost last: a bit each, so that depth costs no stack. */
    private final BitSet objects = new BitSet();

    private int depth;

    private Json(CharSequence text) {
        this.text = text;
    }

    /** Appends the value as a JSON string; whatever it holds, the result is ASCII-safe where JSON readers differ. */
    static void quote(String value, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (mustEscape(value, i)) {
                        out.append(String.format("\\u%04x", (int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }

    /** Control characters; line separators that JavaScript stumbles over; halves of a surrogate pair on their own. */
    private static boolean mustEscape(String value, int i) {
        char c = value.charAt(i);
        if (c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == '\u2028' || c == '\u2029') {
            return true;
        }
        if (Character.isHighSurrogate(c)) {
            return i + 1 == value.length() || !Character.isLowSurrogate(value.charAt(i + 1));
        }
        return Character.isLowSurrogate(c) && (i == 0 || !Character.isHighSurrogate(value.charAt(i - 1)));
    }

    /** Whether the text is exactly one well-formed JSON value (RFC 8259), with nothing before or after but space. */
    static boolean isDocument(CharSequence text) {
        return new Json(text).document();
    }

    private boolean document() {
        do {
            if (!openOrScalar()) {
                return false;
            }
        } while (more());
        return depth == 0 && at == text.length();
    }

    /** Reads a value up to where the next value must start (after an opening bracket), or to its end. */
    private boolean openOrScalar() {
        while (true) {
            space();
            if (take('{')) {
                objects.set(depth++);
                space();
                if (take('}')) {
                    depth--;
                    return true;
                }
                if (!name()) {
                    return false;
                }
            } else if (take('[')) {
                objects.clear(depth++);
                space();
                if (take(']')) {
                    depth--;
                    return true;
                }
            } else {
                return string() || word("true") || word("false") || word("null") || number();
            }
        }
    }

    /** After a value: closes what ends here; true if another value must follow. */
    private boolean more() {
        while (true) {
            space();
            if (depth == 0) {
                return false;
            }
            boolean inObject = objects.get(depth - 1);
            if (take(',')) {
                return !inObject || nameOrBroken();
            }
            if (!take(inObject ? '}' : ']')) {
                return false;
            }
            depth--;
        }
    }

    private boolean nameOrBroken() {
        space();
        return name();
    }

    private boolean name() {
        if (!string()) {
            return false;
        }
        space();
        return take(':');
    }

    private boolean string() {
        if (!take('"')) {
            return false;
        }
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return true;
            }
            if (c < 0x20 || (c == '\\' && !escape())) {
                return false;
            }
        }
        return false;
    }

    private boolean escape() {
        if (at == text.length()) {
            return false;
        }
        char c = text.charAt(at++);
        if (c != 'u') {
            return "\"\\/bfnrt".indexOf(c) >= 0;
        }
        for (int end = at + 4; at < end; at++) {
            if (at >= text.length() || Character.digit(text.charAt(at), 16) < 0 || text.charAt(at) > 'f') {
                return false;
            }
        }
        return true;
    }

    private boolean number() {
        take('-');
        if (!take('0') && !digits()) {
            return false;
        }
        if (take('.') && !digits()) {
            return false;
        }
        if (take('e') || take('E')) {
            if (!take('+')) {
                take('-');
            }
            return digits();
        }
        return true;
    }

    private boolean digits() {
        int start = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        return at > start;
    }

    private boolean word(String word) {
        if (at + word.length() > text.length() || !word.contentEquals(text.subSequence(at, at + word.length()))) {
            return false;
        }
        at += word.length();
        return true;
    }

    private boolean take(char expected) {
        if (at < text.length() && text.charAt(at) == expected) {
            at++;
            return true;
        }
        return false;
    }

    private void space() {
        while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }
}
