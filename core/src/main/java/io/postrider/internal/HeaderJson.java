// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Headers as a flat JSON object of strings, the form in which they are stored. Reads what PostgreSQL prints of a jsonb
 * object, so its input is well-formed; a value that is no string, which only a foreign writer can have stored, is read
 * as its JSON text.
 */
public final class HeaderJson {
    private final String json;
    private int at;

    private HeaderJson(String json) {
        this.json = json;
    }

    public static String write(Map<String, String> headers) {
        StringBuilder out = new StringBuilder("{");
        headers.forEach((name, value) -> {
            if (out.length() > 1) {
                out.append(',');
            }
            string(out, name);
            out.append(':');
            string(out, value);
        });
        return out.append('}').toString();
    }

    public static Map<String, String> read(String json) {
        return json.length() <= 2 ? Map.of() : new HeaderJson(json).object();
    }

    /** Appends {@code text} as a JSON string. */
    public static void string(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    private Map<String, String> object() {
        Map<String, String> headers = new LinkedHashMap<>();
        skipTo('{');
        while (peek() != '}') {
            String name = text();
            skipTo(':');
            headers.put(name, peek() == '"' ? text() : other());
            if (peek() == ',') {
                at++;
            }
        }
        return headers;
    }

    private String text() {
        skipTo('"');
        StringBuilder out = new StringBuilder();
        char c;
        while ((c = json.charAt(at++)) != '"') {
            out.append(c == '\\' ? escaped() : c);
        }
        return out.toString();
    }

    private char escaped() {
        char c = json.charAt(at++);
        return switch (c) {
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'u' -> {
                at += 4;
                yield (char) Integer.parseInt(json.substring(at - 4, at), 16);
            }
            default -> c;
        };
    }

    private String other() {
        int start = at;
        int depth = 0;
        while (depth > 0 || (peek() != ',' && peek() != '}')) {
            char c = json.charAt(at);
            if (c == '"') {
                text();
                continue;
            }
            depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
            at++;
        }
        return json.substring(start, at).strip();
    }

    private char peek() {
        while (Character.isWhitespace(json.charAt(at))) {
            at++;
        }
        return json.charAt(at);
    }

    private void skipTo(char expected) {
        if (peek() != expected) {
            throw new IllegalArgumentException("Headers are not a JSON object: expected " + expected + " at " + at);
        }
        at++;
    }
}
