// SPDX-License-Identifier: Apache-2.0
package io.postrider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EnvelopeTest {
    private static final UUID ID = UUID.fromString("01890a5d-ac96-774b-bcce-b302099a8057");
    private static final Instant AT = Instant.parse("2026-03-01T10:15:30.120987Z");

    @Test
    void itIsThisDocument() {
        Envelope envelope = new Envelope(
                ID, "OrderAccepted", AT, Optional.of("t-1"), Map.of("market", "BTC-\"EUR\"\n"), " {\"price\": 12.30} ");
        assertThat(envelope.json())
                .isEqualTo("{\"schemaVersion\":1,\"eventId\":\"01890a5d-ac96-774b-bcce-b302099a8057\","
                        + "\"type\":\"OrderAccepted\",\"occurredAt\":\"2026-03-01T10:15:30.120Z\",\"traceId\":\"t-1\","
                        + "\"market\":\"BTC-\\\"EUR\\\"\\u000a\",\"payload\":{\"price\": 12.30}}");
    }

    @Test
    void whatIsReadBackIsWhatWasWritten() {
        Envelope envelope = Envelope.of("T", "[1, \"}\", {\"a\": null}]")
                .traceId("trace")
                .field("öwner", "\\ \" \t 😀")
                .occurredAt(AT);
        assertThat(Envelope.parse(bytes(envelope.json()))).isEqualTo(envelope);
        Envelope bare = Envelope.of("T", "{}").occurredAt(Instant.parse("2026-03-01T10:15:30Z"));
        assertThat(bare.json())
                .contains("\"occurredAt\":\"2026-03-01T10:15:30.000Z\"")
                .doesNotContain("traceId");
        assertThat(Envelope.parse(bytes(bare.json()))).isEqualTo(bare);
    }

    @Test
    void itsEventHasTheSameIdTypeAndTime() {
        Envelope envelope = Envelope.of("OrderAccepted", "{}").traceId("t-1");
        OutboxEvent event = envelope.in("trade-events").aggregate("Order", 7).build();
        assertThat(event.id()).isEqualTo(envelope.eventId());
        assertThat(event.type()).isEqualTo("OrderAccepted");
        assertThat(event.stream()).isEqualTo("trade-events");
        assertThat(event.key()).contains("7");
        assertThat(event.occurredAt()).isEqualTo(envelope.occurredAt());
        assertThat(event.contentType()).contains("application/json");
        assertThat(event.headers()).isEqualTo(Map.of("X-Correlation-ID", "t-1"));
        assertThat(Envelope.parse(Objects.requireNonNull(event.payload()))).isEqualTo(envelope);
    }

    @Test
    void fieldsOfOthersAreReadAsTheirText() {
        String document = "{ \"payload\" : {} , \"schemaVersion\" : 1, \"retries\": 3, \"tags\": [\"a\", \"b\"],"
                + "\"eventId\":\"" + ID + "\",\"type\":\"T\",\"occurredAt\":\"2026-03-01T10:15:30Z\"}";
        assertThat(Envelope.parse(bytes(document)).fields())
                .isEqualTo(Map.of("retries", "3", "tags", "[\"a\", \"b\"]"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1", "\"text\"", "null", "{", "{}}", "{},\"type\":\"Forged\"", "{\"a\":\"b}"})
    void aPayloadThatWouldBreakTheDocumentIsRefused(String payload) {
        assertThatThrownBy(() -> Envelope.of("T", payload))
                .isInstanceOf(OutboxException.class)
                .hasMessage("The payload of event T is no JSON object or array. Give one to the envelope.");
    }

    @Test
    void aFieldCannotTakeTheEnvelopesNames() {
        assertThatThrownBy(() -> Envelope.of("T", "{}").field("eventId", "forged"))
                .isInstanceOf(OutboxException.class)
                .hasMessage("Field eventId of event T has a name that the envelope itself uses. Rename it.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{}", "{\"schemaVersion\":1", "[]", "{\"schemaVersion\":2}", "{\"schemaVersion\":1}"})
    void whatIsNoEnvelopeIsNotRead(String document) {
        assertThatThrownBy(() -> Envelope.parse(bytes(document))).isInstanceOf(IllegalArgumentException.class);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
