// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.internal.Discretion;
import io.postrider.internal.Json;
import io.postrider.internal.JsonReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What nobody sees in a browser, whatever his role: headers, and fields of JSON payloads, whose names contain one of these
 * words. Immutable, thread-safe.
 *
 * <pre>{@code
 * Redaction.standard().hide("iban", "birthdate").showToViewers("tenant")
 * }</pre>
 */
public final class Redaction {
    static final String HIDDEN = "[hidden]";

    private final Set<String> words;
    private final Set<String> viewerHeaders;

    private Redaction(Set<String> words, Set<String> viewerHeaders) {
        this.words = words;
        this.viewerHeaders = viewerHeaders;
    }

    /** Passwords, secrets, tokens, keys of APIs, cookies; viewers see of headers the trace alone. */
    public static Redaction standard() {
        return new Redaction(
                Set.of(
                        "password",
                        "passwd",
                        "passphrase",
                        "secret",
                        "token",
                        "apikey",
                        "credential",
                        "authorization",
                        "cookie"),
                Set.of("traceparent", "tracestate", "content-type"));
    }

    /** Hides these besides. Case, hyphens and underscores in names are of no matter. */
    public Redaction hide(String... more) {
        Set<String> all = new LinkedHashSet<>(words);
        Arrays.stream(more).map(Redaction::plain).forEach(all::add);
        return new Redaction(Set.copyOf(all), viewerHeaders);
    }

    /** Headers whose values viewers see, too. */
    public Redaction showToViewers(String... names) {
        Set<String> all = new LinkedHashSet<>(viewerHeaders);
        Arrays.stream(names).map(name -> name.toLowerCase(Locale.ROOT)).forEach(all::add);
        return new Redaction(words, Set.copyOf(all));
    }

    Map<String, String> headers(Map<String, String> headers, Role role) {
        Map<String, String> shown = new LinkedHashMap<>();
        headers.forEach((name, value) -> {
            boolean visible = !hides(name)
                    && (role.includes(Role.OPERATOR) || viewerHeaders.contains(name.toLowerCase(Locale.ROOT)));
            shown.put(name, visible ? value : HIDDEN);
        });
        return shown;
    }

    /** A payload as it may be seen. */
    record Text(String text, boolean redacted) {}

    /** As it is, byte for byte, if nothing in it is hidden. */
    Text payload(String text) {
        @Nullable Object json;
        try {
            json = JsonReader.read(text);
        } catch (IllegalArgumentException e) {
            String safe = Discretion.withoutCredentials(text);
            return new Text(safe, !safe.equals(text));
        }
        boolean[] hidden = {false};
        @Nullable Object shown = value(json, hidden);
        return hidden[0] ? new Text(Json.of(shown), true) : new Text(text, false);
    }

    private @Nullable Object value(@Nullable Object json, boolean[] hidden) {
        if (json instanceof Map<?, ?> map) {
            Map<Object, @Nullable Object> shown = new LinkedHashMap<>();
            map.forEach((name, value) -> {
                boolean hide = hides(String.valueOf(name));
                hidden[0] |= hide;
                shown.put(name, hide ? HIDDEN : value(value, hidden));
            });
            return shown;
        }
        if (json instanceof List<?> list) {
            List<@Nullable Object> shown = new ArrayList<>();
            list.forEach(each -> shown.add(value(each, hidden)));
            return shown;
        }
        return json;
    }

    private boolean hides(String name) {
        String plain = plain(name);
        return words.stream().anyMatch(plain::contains);
    }

    private static String plain(String name) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[-_. ]", "");
    }
}
