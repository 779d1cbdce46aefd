// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Values as people read them. */
final class Shown {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

    private Shown() {}

    static String of(@Nullable Object value) {
        if (value instanceof Optional<?> maybe) {
            return of(maybe.orElse(null));
        }
        if (value == null) {
            return "-";
        }
        if (value instanceof Duration duration) {
            return age(duration);
        }
        if (value instanceof Instant instant) {
            return TIME.format(instant);
        }
        if (value instanceof Boolean yes) {
            return yes ? "yes" : "-";
        }
        if (value instanceof Number number) {
            return String.format(Locale.ROOT, "%,d", number.longValue());
        }
        if (value instanceof Collection<?> many) {
            return many.isEmpty()
                    ? "-"
                    : clean(many.stream().map(String::valueOf).collect(Collectors.joining(",")));
        }
        return clean(value.toString());
    }

    /** A count that stops at a bound. */
    static String count(long number, long bound) {
        return of(number) + (number >= bound ? "+" : "");
    }

    /** In the two largest units. */
    static String age(Duration age) {
        if (age.toDays() > 0) {
            return age.toDays() + "d " + age.toHoursPart() + "h";
        }
        if (age.toHours() > 0) {
            return age.toHours() + "h " + age.toMinutesPart() + "m";
        }
        return age.toMinutes() > 0 ? age.toMinutes() + "m " + age.toSecondsPart() + "s" : age.toSeconds() + "s";
    }

    /**
     * The text with everything escaped that a terminal would obey and not show: events come from elsewhere, and must not
     * move the cursor, colour the screen, end the line or turn the direction of what is read.
     */
    static String clean(String text) {
        StringBuilder out = new StringBuilder(text.length());
        text.codePoints().forEach(point -> {
            switch (Character.getType(point)) {
                case Character.CONTROL,
                        Character.FORMAT,
                        Character.LINE_SEPARATOR,
                        Character.PARAGRAPH_SEPARATOR,
                        Character.SURROGATE -> out.append(escaped(point));
                default -> out.appendCodePoint(point);
            }
        });
        return out.toString();
    }

    private static String escaped(int point) {
        return switch (point) {
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            case '\t' -> "\\t";
            default -> String.format(Locale.ROOT, point < 0x10000 ? "\\u%04x" : "\\U%08x", point);
        };
    }
}
