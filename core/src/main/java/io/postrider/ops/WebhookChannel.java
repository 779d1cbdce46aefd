// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.internal.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Posts each alert as a JSON document, signed so that the receiver knows who sent it and when: the header {@code
 * Postrider-Signature} is {@code v1=} and the HMAC-SHA256, in hex, of the header {@code Postrider-Timestamp} (seconds since
 * 1970), a dot, and the body. Thread-safe.
 */
public final class WebhookChannel implements AlertChannel {
    private static final int SHORTEST_SECRET = 16;

    private final Endpoint endpoint;
    private final SecretKeySpec key;
    private final Supplier<Instant> clock;

    WebhookChannel(Endpoint endpoint, String secret, Supplier<Instant> clock) {
        byte[] bytes = secret.getBytes(StandardCharsets.UTF_8);
        if (bytes.length < SHORTEST_SECRET) {
            throw new IllegalArgumentException("The secret that signs alerts for " + endpoint + " has " + bytes.length
                    + " bytes. Give " + SHORTEST_SECRET + " or more, at random.");
        }
        this.endpoint = endpoint.checked();
        this.key = new SecretKeySpec(bytes, "HmacSHA256");
        this.clock = clock;
    }

    /**
     * To this endpoint, signed.
     *
     * @param secret known to the receiver too, 16 bytes or more
     */
    public static WebhookChannel of(Endpoint endpoint, String secret) {
        return new WebhookChannel(endpoint, secret, Instant::now);
    }

    @Override
    public String name() {
        return "webhook";
    }

    @Override
    public void tell(Alert alert) throws IOException {
        byte[] body = Json.of(document(alert)).getBytes(StandardCharsets.UTF_8);
        String timestamp = String.valueOf(clock.get().getEpochSecond());
        endpoint.post(
                body, Map.of("Postrider-Timestamp", timestamp, "Postrider-Signature", "v1=" + hmac(timestamp, body)));
    }

    private static Map<String, Object> document(Alert alert) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("version", 1);
        document.put("condition", alert.kind().code());
        document.put("state", alert.state().name().toLowerCase(Locale.ROOT));
        document.put("urgent", alert.kind().urgent());
        document.put("at", alert.at());
        document.put("title", alert.title());
        document.put("text", alert.text());
        document.put("subjectCount", alert.subjectCount());
        document.put(
                "subjects",
                alert.subjects().stream().map(WebhookChannel::subject).toList());
        document.put(
                "examples",
                alert.examples().stream().map(WebhookChannel::example).toList());
        return document;
    }

    private static Map<String, Object> subject(Alert.Subject subject) {
        Map<String, Object> part = new LinkedHashMap<>();
        part.put("name", subject.name());
        part.put("value", subject.value());
        part.put("text", subject.text());
        return part;
    }

    private static Map<String, Object> example(DeadLetter letter) {
        Map<String, Object> part = new LinkedHashMap<>();
        part.put("eventId", letter.eventId());
        part.put("stream", letter.stream());
        part.put("key", letter.key());
        part.put("type", letter.type());
        part.put("aggregateType", letter.aggregateType());
        part.put("aggregateId", letter.aggregateId());
        part.put("attempts", letter.attempts());
        part.put("error", SlackChannel.lastError(letter));
        return part;
    }

    private String hmac(String timestamp, byte[] body) throws IOException {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(key);
            mac.update((timestamp + ".").getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(mac.doFinal(body));
        } catch (GeneralSecurityException e) {
            throw new IOException("This JVM cannot compute an HMAC-SHA256", e);
        }
    }

    @Override
    public String toString() {
        return "webhook " + endpoint;
    }
}
