// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.postrider.OutboxEvent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EnvelopeTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final UUID ID = UUID.fromString("01890a5d-ac96-774b-bcce-b302099a8057");

    @Test
    void a_json_payload_is_embedded_as_it_is() {
        OutboxEvent event = event().aggregate("Order", 42)
                .json("{ \"total\": 1.50,\n \"a\":[1 ,2] }")
                .build();

        assertThat(text(event))
                .isEqualTo("{\"eventId\":\"01890a5d-ac96-774b-bcce-b302099a8057\",\"eventType\":\"OrderPlaced\","
                        + "\"aggregateId\":\"42\",\"aggregateType\":\"Order\",\"occurredAt\":\"2026-03-01T10:15:30.123456Z\","
                        + "\"version\":\"1.0.0\",\"payload\":{ \"total\": 1.50,\n \"a\":[1 ,2] }}");
    }

    @Test
    void a_media_type_that_ends_in_json_is_json() {
        OutboxEvent event = event().payload(utf8("[1]"), "Application/Vnd.Order+JSON; charset=utf-8")
                .build();

        assertThat(text(event)).endsWith("\"payload\":[1]}");
    }

    @Test
    void another_payload_is_base64_and_says_so() throws IOException {
        byte[] bytes = {0, 1, (byte) 0xff, '"', '\\'};
        OutboxEvent event = event().payload(bytes, "application/avro").build();

        JsonNode envelope = JSON.readTree(text(event));

        assertThat(envelope.get("payloadEncoding").asText()).isEqualTo("base64");
        assertThat(envelope.get("payloadContentType").asText()).isEqualTo("application/avro");
        assertThat(Base64.getDecoder().decode(envelope.get("payload").asText())).isEqualTo(bytes);
        assertThat(envelope.get("aggregateId").isNull()).isTrue();
        assertThat(envelope.get("aggregateType").isNull()).isTrue();
    }

    @Test
    void a_tombstone_stays_without_value() {
        assertThat(MessageFormat.envelope().value(event().tombstone().build())).isNull();
        assertThat(MessageFormat.envelope().contentType(event().build())).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "quote \" backslash \\ slash / end",
                "\",\"eventId\":\"forged",
                "line\nfeed\rreturn\ttab\u0000nul\u0007bell\u001bescape\u007fdelete\u0085next",
                "\u2028\u2029\ufeff</script>",
                "\ud83d\ude80 pair, \ud83d alone, \ude80 alone",
                "\ud83d",
                "äöü 漢字 \\u0041",
                "{}"
            })
    void hostile_text_comes_back_as_it_was(String hostile) throws IOException {
        OutboxEvent event = OutboxEvent.of("orders", hostile)
                .id(ID)
                .aggregate(hostile, hostile)
                .json("1")
                .buildStored();

        JsonNode envelope = JSON.readTree(text(event));

        assertThat(envelope.get("eventType").asText()).isEqualTo(hostile);
        assertThat(envelope.get("aggregateId").asText()).isEqualTo(hostile);
        assertThat(envelope.get("aggregateType").asText()).isEqualTo(hostile);
        assertThat(envelope.get("eventId").asText()).isEqualTo(ID.toString());
        assertThat(envelope.get("payload").asInt()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "1,\"eventId\":\"forged\"",
                "1}",
                "{\"a\":1}{",
                "{\"a\" 1}",
                "{\"a\":1,}",
                "{,}",
                "{a:1}",
                "[1,]",
                "[1 2]",
                "[",
                "]",
                "[}",
                "{\"a\":[}",
                "01",
                "1.",
                "-",
                "1e",
                ".5",
                "+1",
                "nul",
                "True",
                "NaN",
                "'a'",
                "\"a",
                "\"\\x\"",
                "\"\\u12g4\"",
                "\"\\u12",
                "\"\n\"",
                "\ufeff{}",
                "// c\n1"
            })
    void a_payload_that_only_claims_to_be_json_is_base64(String broken) throws IOException {
        OutboxEvent event = event().payload(utf8(broken), "application/json").build();

        JsonNode envelope = JSON.readTree(text(event));

        assertThat(envelope.get("payloadEncoding").asText()).isEqualTo("base64");
        assertThat(Base64.getDecoder().decode(envelope.get("payload").asText())).isEqualTo(utf8(broken));
        assertThat(envelope.get("eventId").asText()).isEqualTo(ID.toString());
    }

    @Test
    void bytes_that_are_no_utf8_are_base64() throws IOException {
        byte[] latin = "\"ü\"".getBytes(StandardCharsets.ISO_8859_1);
        OutboxEvent event = event().payload(latin, "application/json").build();

        assertThat(Base64.getDecoder()
                        .decode(JSON.readTree(text(event)).get("payload").asText()))
                .isEqualTo(latin);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0",
                "-0.5e-7",
                "12E+3",
                "true",
                "false",
                "null",
                "\"\"",
                "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00Af\"",
                "[]",
                "{}",
                " [ ] ",
                "[[],{},[{}]]",
                "{\"a\":{\"b\":[1,{\"c\":null}]},\"d\":\"e\"}",
                "\t{ \"a\" : [ 1 , 2 ] }\r\n"
            })
    void every_kind_of_json_is_recognised(String json) throws IOException {
        assertThat(JSON.readTree(json)).isNotNull();

        assertThat(Json.isDocument(json)).isTrue();
    }

    @Test
    void a_payload_of_a_million_brackets_costs_no_stack() {
        String deep = "[".repeat(1_000_000) + "]".repeat(1_000_000);

        assertThat(Json.isDocument(deep)).isTrue();
        assertThat(Json.isDocument(deep + "]")).isFalse();
    }

    private static OutboxEvent.Builder event() {
        return OutboxEvent.of("orders", "OrderPlaced")
                .id(ID)
                .occurredAt(Instant.parse("2026-03-01T10:15:30.123456789Z"));
    }

    private static String text(OutboxEvent event) {
        byte[] value = MessageFormat.envelope().value(event);
        assertThat(value).isNotNull();
        return new String(value, StandardCharsets.UTF_8);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
