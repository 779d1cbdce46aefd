// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.config;

import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Times as people write them: 500ms, 8s, 10m, 4h, 7d. */
final class Span {
    private static final Pattern TEXT = Pattern.compile("([0-9]{1,9})\\s*(ms|s|m|h|d)");

    private Span() {}

    /** Empty unless it is a time of more than nothing. */
    static Optional<Duration> parse(String text) {
        Matcher parts = TEXT.matcher(text.strip());
        if (!parts.matches()) {
            return Optional.empty();
        }
        long count = Long.parseLong(parts.group(1));
        Duration span = switch (parts.group(2)) {
            case "ms" -> Duration.ofMillis(count);
            case "s" -> Duration.ofSeconds(count);
            case "m" -> Duration.ofMinutes(count);
            case "h" -> Duration.ofHours(count);
            default -> Duration.ofDays(count);
        };
        return Optional.of(span).filter(each -> !each.isZero());
    }

    static String of(Duration span) {
        long millis = span.toMillis();
        if (millis % 1000 != 0) {
            return millis + "ms";
        }
        long seconds = millis / 1000;
        if (seconds % 86_400 == 0) {
            return seconds / 86_400 + "d";
        }
        if (seconds % 3600 == 0) {
            return seconds / 3600 + "h";
        }
        return seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
    }
}
