// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The limits that every event keeps, checked before anything is written. */
public final class EventRules {
    public static final int MAX_STREAM_BYTES = 128;
    public static final int MAX_TYPE_BYTES = 256;
    public static final int MAX_KEY_BYTES = 512;
    public static final int MAX_HEADERS = 64;
    public static final int MAX_HEADER_NAME_BYTES = 128;
    public static final int MAX_HEADER_VALUE_BYTES = 4096;

    /** Headers with this prefix are written by publishers. */
    public static final String RESERVED_PREFIX = "postrider-";

    /** How far this clock and the database's may be apart before an expiry in the past is taken for a mistake. */
    private static final Duration CLOCKS_DIFFER = Duration.ofMinutes(1);

    private static final Duration LONGEST_EXPIRY = Duration.ofDays(36_525);

    private static final Set<String> SENSITIVE = Set.of(
            "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "x-auth-token");

    private EventRules() {}

    /** Throws an {@link OutboxException} that names the first rule the event breaks. */
    public static void check(OutboxEvent event) {
        text(event, "stream", event.stream(), MAX_STREAM_BYTES);
        text(event, "type", event.type(), MAX_TYPE_BYTES);
        event.key().ifPresent(key -> text(event, "key", key, MAX_KEY_BYTES));
        event.aggregateType().ifPresent(type -> text(event, "aggregate type", type, MAX_TYPE_BYTES));
        event.aggregateId().ifPresent(id -> text(event, "aggregate id", id, MAX_KEY_BYTES));
        event.contentType().ifPresent(type -> text(event, "content type", type, MAX_TYPE_BYTES));
        headers(event);
        if (event.delay().isPresent() && event.delay().get().isNegative()) {
            throw refused(event, "delay is negative (" + event.delay().get() + ")", "Give a delay of zero or more.");
        }
        if (event.maxAttempts().isPresent() && event.maxAttempts().getAsInt() < 1) {
            throw refused(
                    event,
                    "maxAttempts is " + event.maxAttempts().getAsInt(),
                    "Give 1 or more, or leave it to the relay's retry policy.");
        }
        event.dedupKey().ifPresent(key -> text(event, "dedup key", key, MAX_KEY_BYTES));
        expiry(event);
    }

    /** What could never be delivered is a mistake; this clock decides no more than that. */
    private static void expiry(OutboxEvent event) {
        Optional<Instant> at = event.expiresAt();
        Optional<Duration> in = event.expiresIn();
        if (in.isPresent()
                && (in.get().isNegative() || in.get().isZero() || in.get().compareTo(LONGEST_EXPIRY) > 0)) {
            throw refused(event, "it expires in " + in.get(), "Give a time of more than zero and up to 100 years.");
        }
        if (at.isPresent() && at.get().isBefore(Instant.now().minus(CLOCKS_DIFFER))) {
            throw refused(event, "it expired at " + at.get(), "Give a time to come, or leave the expiry out.");
        }
        if (at.isPresent()
                && event.notBefore().isPresent()
                && !at.get().isAfter(event.notBefore().get())) {
            throw tooSoon(event, "at " + at.get(), "at " + event.notBefore().get());
        }
        if (in.isPresent()
                && event.delay().isPresent()
                && in.get().compareTo(event.delay().get()) <= 0) {
            throw tooSoon(event, "in " + in.get(), "in " + event.delay().get());
        }
    }

    private static OutboxException tooSoon(OutboxEvent event, String expires, String due) {
        return refused(
                event,
                "it expires " + expires + " and is not due before that (" + due + ")",
                "Let it expire later, or be due earlier.");
    }

    /** Throws if the payload is larger than {@code limit} bytes. */
    public static void checkPayload(OutboxEvent event, int limit) {
        if (event.payloadSize() > limit) {
            throw refused(
                    event,
                    "payload has " + event.payloadSize() + " bytes and the limit is " + limit,
                    "Store the document elsewhere and send its address, or raise the payload limit together with the"
                            + " destination's.");
        }
    }

    private static void headers(OutboxEvent event) {
        if (event.headers().size() > MAX_HEADERS) {
            throw refused(
                    event,
                    "it has " + event.headers().size() + " headers and the limit is " + MAX_HEADERS,
                    "Move what is data into the payload.");
        }
        for (Map.Entry<String, String> header : event.headers().entrySet()) {
            String name = header.getKey();
            text(event, "header name", name, MAX_HEADER_NAME_BYTES);
            String lower = name.toLowerCase(Locale.ROOT);
            if (SENSITIVE.contains(lower)) {
                throw refused(
                        event,
                        "header " + name + " usually carries a credential, and events are stored and shown",
                        "Leave it out; a consumer should hold its own credentials.");
            }
            if (lower.startsWith(RESERVED_PREFIX)) {
                throw refused(
                        event,
                        "header " + name + " starts with the reserved " + RESERVED_PREFIX,
                        "Choose another name.");
            }
            if (!header.getValue().isEmpty()) {
                text(event, "value of header " + name, header.getValue(), MAX_HEADER_VALUE_BYTES);
            }
        }
    }

    private static void text(OutboxEvent event, String what, String value, int maxBytes) {
        TextRule.check(what, value, maxBytes).ifPresent(broken -> {
            throw refused(event, broken.what(), broken.advice());
        });
    }

    private static OutboxException refused(OutboxEvent event, String what, String advice) {
        return new OutboxException("Event " + TextRule.shown(event.type()) + " (stream "
                + TextRule.shown(event.stream()) + ") was not appended: " + what + ". " + advice);
    }
}
