// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * JSON as maps, lists, strings, numbers ({@link BigDecimal}, so that none loses digits), booleans and null. Refuses what
 * is no JSON, and what is nested deeper than a person would write.
 */
public final class JsonReader {
    private static final int DEEPEST = 64;

    private final String json;
    private int at;

    private JsonReader(String json) {
        this.json = json;
    }

    /**
     * Reads it.
     *
     * @throws IllegalArgumentException if it is no JSON, saying where
     */
    public static @Nullable Object read(String json) {
        JsonReader reader = new JsonReader(json);
        @Nullable Object value = reader.value(0);
        reader.skipSpace();
        if (reader.at < json.length()) {
            throw reader.wrong("the end");
        }
        return value;
    }

    private @Nullable Object value(int depth) {
        if (depth > DEEPEST) {
            throw new IllegalArgumentException("It is nested deeper than " + DEEPEST + " levels.");
        }
        return switch (peek()) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, @Nullable Object> object(int depth) {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        expect('{');
        if (peek() == '}') {
            at++;
            return map;
        }
        do {
            String name = string();
            expect(':');
            map.put(name, value(depth + 1));
        } while (another('}'));
        return map;
    }

    private List<@Nullable Object> array(int depth) {
        List<@Nullable Object> list = new ArrayList<>();
        expect('[');
        if (peek() == ']') {
            at++;
            return list;
        }
        do {
            list.add(value(depth + 1));
        } while (another(']'));
        return list;
    }

    /** Passes a comma or the end. */
    private boolean another(char end) {
        char c = peek();
        if (c != ',' && c != end) {
            throw wrong("',' or '" + end + "'");
        }
        at++;
        return c == ',';
    }

    private String string() {
        expect('"');
        StringBuilder out = new StringBuilder();
        while (true) {
            char c = next();
            if (c == '"') {
                return out.toString();
            }
            if (c < 0x20) {
                at--;
                throw wrong("an escape instead of a control character");
            }
            out.append(c == '\\' ? escaped() : c);
        }
    }

    private char escaped() {
        char c = next();
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'u' -> unicode();
            default -> {
                at--;
                throw wrong("an escape");
            }
        };
    }

    private char unicode() {
        int code = 0;
        for (int i = 0; i < 4; i++) {
            int digit = Character.digit(next(), 16);
            if (digit < 0) {
                at--;
                throw wrong("a hexadecimal digit");
            }
            code = code * 16 + digit;
        }
        return (char) code;
    }

    private @Nullable Object word(String word, @Nullable Object value) {
        if (!json.startsWith(word, at)) {
            throw wrong("a value");
        }
        at += word.length();
        return value;
    }

    private BigDecimal number() {
        int start = at;
        while (at < json.length() && "+-0123456789.eE".indexOf(json.charAt(at)) >= 0) {
            at++;
        }
        String text = json.substring(start, at);
        if (!text.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]{1,4})?")) {
            at = start;
            throw wrong("a value");
        }
        return new BigDecimal(text);
    }

    private char next() {
        if (at >= json.length()) {
            throw wrong("more");
        }
        return json.charAt(at++);
    }

    private char peek() {
        skipSpace();
        if (at >= json.length()) {
            throw wrong("more");
        }
        return json.charAt(at);
    }

    private void expect(char c) {
        if (peek() != c) {
            throw wrong("'" + c + "'");
        }
        at++;
    }

    private void skipSpace() {
        while (at < json.length() && " \t\r\n".indexOf(json.charAt(at)) >= 0) {
            at++;
        }
    }

    private IllegalArgumentException wrong(String expected) {
        return new IllegalArgumentException("It is no JSON: expected " + expected + " at character " + at + ".");
    }
}
