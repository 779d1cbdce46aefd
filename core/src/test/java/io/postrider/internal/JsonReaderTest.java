// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonReaderTest {

    @Test
    void readsEveryKindOfValue() {
        assertThat(JsonReader.read(" {\"a\": [1, -2.50e+3, true, false, null, \"x\"], \"b\": {}, \"c\": []} "))
                .isEqualTo(Map.of(
                        "a",
                        Arrays.asList(new BigDecimal("1"), new BigDecimal("-2.50e+3"), true, false, null, "x"),
                        "b",
                        Map.of(),
                        "c",
                        List.of()));
    }

    @Test
    void readsEscapesAndLosesNoDigits() {
        assertThat(JsonReader.read("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\""))
                .isEqualTo("\"\\/\b\f\n\r\té😀");
        assertThat(Json.of(JsonReader.read("12345678901234567890.12345678901234567890")))
                .isEqualTo("12345678901234567890.12345678901234567890");
    }

    @Test
    void whatTheWriterWritesItReads() {
        Map<String, Object> value = Map.of("k\"\n", List.of("</script>", "\u202e", "\ud800"));
        assertThat(JsonReader.read(Json.of(value))).isEqualTo(value);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "[1",
                "[1,]",
                "{\"a\"}",
                "{\"a\":}",
                "{a: 1}",
                "01",
                "1.",
                "+1",
                "--1",
                "1e",
                "1e99999",
                "nul",
                "tru",
                "\"",
                "\"\\x\"",
                "\"\\u12g4\"",
                "\"\n\"",
                "1 2",
                "{} {}",
                "'a'",
                "[1}",
                "NaN"
            })
    void refusesWhatIsNoJson(String text) {
        assertThatThrownBy(() -> JsonReader.read(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("It is no JSON: expected");
    }

    @Test
    void refusesWhatIsNestedTooDeep() {
        assertThatThrownBy(() -> JsonReader.read("[".repeat(100_000))).hasMessageContaining("deeper than 64");
    }
}
