// SPDX-License-Identifier: Apache-2.0
package io.postrider;

import io.postrider.internal.HeaderJson;
import io.postrider.internal.TimeOrderedId;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * A payload that says by itself what it is, as one JSON document: {@code schemaVersion} 1, {@code eventId, type, occurredAt,
 * traceId}, fields of the application's own, {@code payload}. It is written once, when the event is appended, and is the
 * same bytes in the table, in a broker and for a handler.
 *
 * <pre>{@code
 * bus.publish(Envelope.of("OrderAccepted", json).field("market", "BTC-EUR").in("trade-events").aggregate("Order", id).build());
 *
 * bus.subscribe("trade-events", "OrderAccepted").as(Envelope::parse).run(envelope -> notify(envelope.payload()));
 * }</pre>
 *
 * <p>Immutable.
 *
 * @param occurredAt in milliseconds
 * @param fields the application's own, each a string
 * @param payload a JSON object or array
 */
public record Envelope(
        UUID eventId,
        String type,
        Instant occurredAt,
        Optional<String> traceId,
        Map<String, String> fields,
        String payload) {
    private static final String VERSION = "1";
    private static final Set<String> TAKEN =
            Set.of("schemaVersion", "eventId", "type", "occurredAt", "traceId", "payload");
    private static final DateTimeFormatter MILLIS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

    /** @throws OutboxException if the payload is no JSON object or array, or a field has a name of the envelope's own */
    public Envelope {
        Objects.requireNonNull(eventId, "eventId");
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(traceId, "traceId");
        occurredAt = occurredAt.truncatedTo(ChronoUnit.MILLIS);
        payload = payload.strip();
        fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
        for (String name : fields.keySet()) {
            if (TAKEN.contains(name)) {
                throw new OutboxException("Field " + name + " of event " + type
                        + " has a name that the envelope itself uses. Rename it.");
            }
        }
        checkPayload(type, payload);
    }

    /** A new event of this type with this JSON object or array, happening now. */
    public static Envelope of(String type, String payload) {
        return new Envelope(TimeOrderedId.next(), type, Instant.now(), Optional.empty(), Map.of(), payload);
    }

    public Envelope traceId(String traceId) {
        return new Envelope(eventId, type, occurredAt, Optional.of(traceId), fields, payload);
    }

    public Envelope occurredAt(Instant occurredAt) {
        return new Envelope(eventId, type, occurredAt, traceId, fields, payload);
    }

    /** With one more field, or another value of it. */
    public Envelope field(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(fields);
        more.put(Objects.requireNonNull(name, "field name"), Objects.requireNonNull(value, "field value"));
        return new Envelope(eventId, type, occurredAt, traceId, more, payload);
    }

    /** Begins the event that carries this, with the same id, type and time; the trace id is a header too, for logs. */
    public OutboxEvent.Builder in(String stream) {
        OutboxEvent.Builder event =
                OutboxEvent.of(stream, type).id(eventId).occurredAt(occurredAt).json(json());
        traceId.ifPresent(id -> event.header("X-Correlation-ID", id));
        return event;
    }

    /** The document. */
    public String json() {
        StringBuilder out = new StringBuilder(256).append("{\"schemaVersion\":").append(VERSION);
        add(out, "eventId", eventId.toString());
        add(out, "type", type);
        add(out, "occurredAt", MILLIS.format(occurredAt));
        traceId.ifPresent(id -> add(out, "traceId", id));
        fields.forEach((name, value) -> add(out, name, value));
        return out.append(",\"payload\":").append(payload).append('}').toString();
    }

    private static void add(StringBuilder out, String name, String value) {
        HeaderJson.string(out.append(','), name);
        HeaderJson.string(out.append(':'), value);
    }

    /**
     * Reads it back; for {@code Route.as}. A field that is no string is given as its JSON text.
     *
     * @throws IllegalArgumentException if it is no such document, or of another schema version
     */
    public static Envelope parse(byte[] document) {
        Map<String, String> all;
        try {
            all = new LinkedHashMap<>(HeaderJson.read(new String(document, StandardCharsets.UTF_8)));
        } catch (IndexOutOfBoundsException e) {
            throw new IllegalArgumentException("The document ends too early", e);
        }
        String version = need(all, "schemaVersion");
        if (!version.equals(VERSION)) {
            throw new IllegalArgumentException("schemaVersion is " + version + ", but " + VERSION + " is known here");
        }
        return new Envelope(
                        UUID.fromString(need(all, "eventId")),
                        need(all, "type"),
                        Instant.parse(need(all, "occurredAt")),
                        Optional.ofNullable(all.remove("traceId")),
                        Map.of(),
                        need(all, "payload"))
                .with(all);
    }

    private Envelope with(Map<String, String> others) {
        return new Envelope(eventId, type, occurredAt, traceId, others, payload);
    }

    private static String need(Map<String, String> all, String name) {
        String value = all.remove(name);
        if (value == null) {
            throw new IllegalArgumentException("The document has no " + name);
        }
        return value;
    }

    /** Not a whole check: what does not end where its first bracket is closed would add fields of its own to the document. */
    private static void checkPayload(String type, String payload) {
        boolean whole = payload.startsWith("{") || payload.startsWith("[");
        try {
            whole = whole && HeaderJson.read("{\"payload\":" + payload + "}").equals(Map.of("payload", payload));
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            whole = false;
        }
        if (!whole) {
            throw new OutboxException(
                    "The payload of event " + type + " is no JSON object or array. Give one to the envelope.");
        }
    }
}
