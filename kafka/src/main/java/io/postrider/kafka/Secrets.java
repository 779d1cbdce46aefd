// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.types.Password;
import org.jspecify.annotations.Nullable;

/** The confidential values among the producer's settings, to be taken out of every text that Kafka's client writes. */
final class Secrets {
    private static final Pattern NAME = Pattern.compile(
            "password|passphrase|secret|jaas|token|credential|private|keystore\\.key|user\\.info|api\\.key");
    private static final Pattern OPTION = Pattern.compile("=\\s*(?:\"([^\"]*)\"|'([^']*)'|([^\\s;\"']+))");
    private static final Pattern USER_INFO = Pattern.compile("://([^/@\\s]+)@");

    /** Hiding every "a" would hide the message: what is shorter than this is no secret. */
    private static final int SHORTEST = 3;

    private static final int LONGEST_TEXT = 300;

    private final List<String> values;

    private Secrets(Set<String> found) {
        // Longest first, so that a value is hidden whole before a part of it is.
        values = found.stream()
                .filter(value -> value.length() >= SHORTEST)
                .sorted(Comparator.comparingInt(String::length).reversed())
                .toList();
    }

    static Secrets in(Map<String, Object> settings) {
        Set<String> found = new HashSet<>();
        settings.forEach((name, value) -> {
            String text = value instanceof Password password ? password.value() : String.valueOf(value);
            Matcher userInfo = USER_INFO.matcher(text);
            while (userInfo.find()) {
                found.add(userInfo.group(1));
            }
            if (value instanceof Password
                    || NAME.matcher(name.toLowerCase(Locale.ROOT)).find()) {
                found.add(text);
                found.add(text.trim());
                options(text, found);
            }
        });
        return new Secrets(found);
    }

    /** A login module line names its credentials one by one, and a client may quote any of them. */
    private static void options(String text, Set<String> found) {
        Matcher option = OPTION.matcher(text);
        while (option.find()) {
            for (int group = 1; group <= option.groupCount(); group++) {
                if (option.group(group) != null) {
                    found.add(option.group(group));
                }
            }
        }
    }

    /** The text on one line, cut to a readable length, without any of the secrets. */
    String hide(@Nullable String text) {
        if (text == null) {
            return "";
        }
        String clean = text;
        for (String value : values) {
            clean = clean.replace(value, "[hidden]");
        }
        clean = clean.replaceAll("\\p{Cntrl}+", " ").trim();
        return clean.length() <= LONGEST_TEXT ? clean : clean.substring(0, LONGEST_TEXT) + "…";
    }

    /** What an exception and its causes say, without the secrets and without the exceptions themselves. */
    String describe(Throwable error) {
        StringBuilder text = new StringBuilder();
        int depth = 0;
        for (Throwable e = error; e != null && depth < 4; e = e.getCause(), depth++) {
            text.append(depth == 0 ? "" : ", caused by ").append(e.getClass().getSimpleName());
            String message = hide(e.getMessage());
            text.append(message.isEmpty() ? "" : ": " + message);
        }
        return text.toString();
    }
}
