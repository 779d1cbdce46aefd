// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import java.time.Duration;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Values as scripts and browsers read them: times in ISO 8601, durations in seconds. {@link JsonReader} reads. */
public final class Json {
    private final StringBuilder out = new StringBuilder();

    private Json() {}

    public static String of(@Nullable Object value) {
        Json json = new Json();
        json.write(value);
        return json.out.toString();
    }

    private void write(@Nullable Object value) {
        if (value instanceof Optional<?> maybe) {
            write(maybe.orElse(null));
        } else if (value instanceof Map<?, ?> map) {
            object(map);
        } else if (value instanceof Iterable<?> many) {
            array(many);
        } else if (value instanceof Duration duration) {
            out.append(duration.toMillis() / 1000.0);
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else {
            string(value.toString());
        }
    }

    private void object(Map<?, ?> map) {
        out.append('{');
        Iterator<? extends Map.Entry<?, ?>> entries = map.entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry<?, ?> entry = entries.next();
            string(String.valueOf(entry.getKey()));
            out.append(": ");
            write(entry.getValue());
            out.append(entries.hasNext() ? ", " : "");
        }
        out.append('}');
    }

    private void array(Iterable<?> many) {
        out.append('[');
        Iterator<?> each = many.iterator();
        while (each.hasNext()) {
            write(each.next());
            out.append(each.hasNext() ? ", " : "");
        }
        out.append(']');
    }

    private void string(String text) {
        out.append('"');
        text.chars().forEach(c -> {
            if (c == '"' || c == '\\') {
                out.append('\\').append((char) c);
            } else if (c < 0x20 || (c >= 0x7f && c < 0xa0) || Character.isSurrogate((char) c)) {
                out.append(String.format(Locale.ROOT, "\\u%04x", c));
            } else {
                out.append((char) c);
            }
        });
        out.append('"');
    }
}
