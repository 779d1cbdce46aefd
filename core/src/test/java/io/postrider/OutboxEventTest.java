// SPDX-License-Identifier: Apache-2.0
package io.postrider;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class OutboxEventTest {

    @Test
    void theKeyIsTheAggregateIdUnlessOneIsGiven() {
        assertThat(OutboxEvent.of("s", "T").aggregate("Order", 42).build().key())
                .contains("42");
        assertThat(OutboxEvent.of("s", "T")
                        .aggregate("Order", 42)
                        .key("k")
                        .build()
                        .key())
                .contains("k");
        assertThat(OutboxEvent.of("s", "T")
                        .key("k")
                        .aggregate("Order", 42)
                        .build()
                        .key())
                .contains("k");
    }

    @Test
    void anEventWithNeitherKeyNorAggregateHasNoKey() {
        OutboxEvent event = OutboxEvent.of("s", "T").build();
        assertThat(event.key()).isEmpty();
        assertThat(event.aggregateType()).isEmpty();
        assertThat(event.aggregateId()).isEmpty();
    }

    @Test
    void unkeyedTakesTheKeyAwayButNotTheAggregate() {
        OutboxEvent event =
                OutboxEvent.of("s", "T").aggregate("Order", 42).unkeyed().build();
        assertThat(event.key()).isEmpty();
        assertThat(event.aggregateType()).contains("Order");
        assertThat(event.aggregateId()).contains("42");
        assertThat(OutboxEvent.of("s", "T").key("k").unkeyed().build().key()).isEmpty();
        assertThat(OutboxEvent.of("s", "T")
                        .unkeyed()
                        .aggregate("Order", 42)
                        .build()
                        .key())
                .isEmpty();
        assertThat(OutboxEvent.of("s", "T").unkeyed().key("k").build().key()).contains("k");
    }

    @Test
    void anEventWithoutPayloadIsATombstone() {
        OutboxEvent never = OutboxEvent.of("s", "T").key("k").build();
        OutboxEvent taken = OutboxEvent.of("s", "T").json("{}").tombstone().build();
        for (OutboxEvent event : new OutboxEvent[] {never, taken}) {
            assertThat(event.payload()).isNull();
            assertThat(event.payloadSize()).isZero();
            assertThat(event.contentType()).isEmpty();
        }
    }

    @Test
    void anEmptyPayloadIsNoTombstone() {
        OutboxEvent event = OutboxEvent.of("s", "T").payload(new byte[0]).build();
        assertThat(event.payload()).isNotNull().isEmpty();
    }

    @Test
    void everyKindOfPayloadHasItsBytesAndItsContentType() {
        OutboxEvent json = OutboxEvent.of("s", "T").json("{\"a\":\"ü\"}").build();
        assertThat(json.payload()).isEqualTo("{\"a\":\"ü\"}".getBytes(UTF_8));
        assertThat(json.payloadSize()).isEqualTo(10);
        assertThat(json.contentType()).contains("application/json");

        OutboxEvent text = OutboxEvent.of("s", "T").text("grün").build();
        assertThat(text.payload()).isEqualTo("grün".getBytes(UTF_8));
        assertThat(text.contentType()).contains("text/plain; charset=utf-8");

        OutboxEvent typed = OutboxEvent.of("s", "T")
                .payload(new byte[] {1, 2}, "application/avro")
                .build();
        assertThat(typed.payload()).containsExactly(1, 2);
        assertThat(typed.contentType()).contains("application/avro");

        OutboxEvent bare =
                OutboxEvent.of("s", "T").json("{}").payload(new byte[] {3}).build();
        assertThat(bare.payload()).containsExactly(3);
        assertThat(bare.contentType()).isEmpty();
    }

    @Test
    void headersKeepTheirOrderAndCannotBeChangedAfterwards() {
        Map<String, String> given = new LinkedHashMap<>();
        given.put("z", "1");
        given.put("a", "");
        OutboxEvent.Builder builder =
                OutboxEvent.of("s", "T").header("m", "0").headers(given).header("m", "2");
        OutboxEvent event = builder.build();
        builder.header("late", "3");

        assertThat(event.headers()).containsExactly(Map.entry("m", "2"), Map.entry("z", "1"), Map.entry("a", ""));
        assertThatThrownBy(() -> event.headers().put("x", "y")).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void theTimeIsNowUnlessGivenAndHasMicrosecondsAsTheDatabaseHas() {
        assertThat(OutboxEvent.of("s", "T").build().occurredAt())
                .isCloseTo(Instant.now(), within(10, ChronoUnit.SECONDS));
        OutboxEvent given = OutboxEvent.of("s", "T")
                .occurredAt(Instant.parse("2026-01-02T03:04:05.123456789Z"))
                .build();
        assertThat(given.occurredAt()).isEqualTo(Instant.parse("2026-01-02T03:04:05.123456Z"));
    }

    @Test
    void delayAndNotBeforeReplaceEachOther() {
        Instant later = Instant.parse("2030-01-01T00:00:00Z");
        OutboxEvent delayed = OutboxEvent.of("s", "T")
                .notBefore(later)
                .delay(Duration.ofSeconds(3))
                .build();
        assertThat(delayed.delay()).contains(Duration.ofSeconds(3));
        assertThat(delayed.notBefore()).isEmpty();

        OutboxEvent dated = OutboxEvent.of("s", "T")
                .delay(Duration.ofSeconds(3))
                .notBefore(later)
                .build();
        assertThat(dated.notBefore()).contains(later);
        assertThat(dated.delay()).isEmpty();
    }

    @Test
    void theIdIsTimeOrderedUnlessGiven() {
        UUID given = UUID.fromString("3f2b8a34-0c07-4a1e-9d6e-0b7b1d0c9a11");
        assertThat(OutboxEvent.of("s", "T").id(given).build().id()).isEqualTo(given);

        OutboxEvent first = OutboxEvent.of("s", "T").build();
        OutboxEvent second = OutboxEvent.of("s", "T").build();
        assertThat(first.id().version()).isEqualTo(7);
        assertThat(second.id().getMostSignificantBits())
                .isGreaterThan(first.id().getMostSignificantBits());
    }

    @Test
    void expiresAtAndExpiresInReplaceEachOther() {
        Instant time = Instant.now().plusSeconds(60);
        Duration hour = Duration.ofHours(1);
        OutboxEvent in =
                OutboxEvent.of("s", "T").expiresAt(time).expiresIn(hour).build();
        assertThat(in.expiresIn()).contains(hour);
        assertThat(in.expiresAt()).isEmpty();
        OutboxEvent at =
                OutboxEvent.of("s", "T").expiresIn(hour).expiresAt(time).build();
        assertThat(at.expiresAt()).contains(time);
        assertThat(at.expiresIn()).isEmpty();
        assertThat(at.dedupKey()).isEmpty();
    }

    @Test
    void maxAttemptsIsEmptyUnlessGiven() {
        assertThat(OutboxEvent.of("s", "T").build().maxAttempts()).isEmpty();
        assertThat(OutboxEvent.of("s", "T").maxAttempts(1).build().maxAttempts())
                .hasValue(1);
    }

    @Test
    void toStringNamesTheEventAndShowsNeitherPayloadNorHeaders() {
        UUID id = UUID.fromString("01900000-0000-7000-8000-000000000001");
        OutboxEvent keyed = OutboxEvent.of("orders", "OrderPlaced")
                .id(id)
                .aggregate("Order", 42)
                .header("X-Secret", "hush")
                .json("{\"iban\":\"DE00\"}")
                .build();
        assertThat(keyed).hasToString("event OrderPlaced " + id + " (stream orders, key 42)");
        assertThat(OutboxEvent.of("orders", "OrderPlaced").id(id).build())
                .hasToString("event OrderPlaced " + id + " (stream orders)");
    }

    @Test
    void whatWasStoredIsReadBackEvenIfTodaysRulesWouldRefuseIt() {
        OutboxEvent event = OutboxEvent.of(" ", "a\nb")
                .header("Authorization", "x")
                .maxAttempts(0)
                .buildStored();
        assertThat(event.stream()).isEqualTo(" ");
        assertThat(event.type()).isEqualTo("a\nb");
        assertThat(event.headers()).containsEntry("Authorization", "x");
        assertThat(event.maxAttempts()).hasValue(0);
    }

    @Test
    void aMissingPartIsNamedWhereItIsMissing() {
        assertThatThrownBy(() -> OutboxEvent.of("s", "T").header("a", absent()))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("header value");
        assertThatThrownBy(() -> OutboxEvent.of("s", "T").aggregate("Order", absent()))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("aggregate id");
        assertThatThrownBy(() -> OutboxEvent.of(absent(), "T"))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("stream");
    }

    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
    private static <T> T absent() {
        return null;
    }
}
