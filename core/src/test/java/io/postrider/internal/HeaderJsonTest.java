// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HeaderJsonTest {
    private static final String[] HOSTILE = {
        "\"", "\\", "\\\"", "\\u0041", "{", "}", ",", ":", "[", "]", "'", " ", "a", "ü", "漢", "😀", "\u2028", "\n",
        "\t", "\r", "\b", "\f", "\u0001", "\u001f", "\u007f", "null", "1", "/"
    };

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "plain",
                "with \"quotes\"",
                "back\\slash\\",
                "\\\"",
                "\\u0041 is not A",
                "{\"a\":[1,2]}",
                ", } :",
                "ünïcödé 漢字",
                "😀 beyond the first plane",
                "line\nbreak\r\ttab\b\f",
                "\u0001\u001f\u007f\u0085\u2028"
            })
    void whatIsWrittenIsReadBack(String text) {
        Map<String, String> headers = Map.of("name", text, "x" + text, "value");
        assertThat(HeaderJson.read(HeaderJson.write(headers))).isEqualTo(headers);
    }

    @Test
    void randomHeadersAreReadBackInTheirOrder() {
        Random random = new Random(7);
        for (int n = 0; n < 5_000; n++) {
            Map<String, String> headers = new LinkedHashMap<>();
            for (int i = random.nextInt(5); i > 0; i--) {
                headers.put(hostile(random), hostile(random));
            }
            String json = HeaderJson.write(headers);
            assertThat(HeaderJson.read(json).entrySet()).as(json).containsExactlyElementsOf(headers.entrySet());
        }
    }

    @Test
    void controlCharactersQuotesAndBackslashesAreEscapedAndNothingElse() {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("a\"b", "c\\d");
        headers.put("n", "\n\u0001");
        headers.put("ü", "😀/");
        assertThat(HeaderJson.write(headers))
                .isEqualTo("{\"a\\\"b\":\"c\\\\d\",\"n\":\"\\u000a\\u0001\",\"ü\":\"😀/\"}");
    }

    @Test
    void noHeadersAreAnEmptyObject() {
        assertThat(HeaderJson.write(Map.of())).isEqualTo("{}");
        assertThat(HeaderJson.read("{}")).isEmpty();
        assertThat(HeaderJson.read("{ }")).isEmpty();
    }

    @Test
    void theWhitespaceThatPostgresPrintsIsPassedOver() {
        assertThat(HeaderJson.read("{\"a\": \"1\", \"b\": \" 2 \"}"))
                .containsExactly(Map.entry("a", "1"), Map.entry("b", " 2 "));
        assertThat(HeaderJson.read(" {\n\t\"a\" : \"1\" ,\r\n \"b\" :\"2\" } "))
                .containsExactly(Map.entry("a", "1"), Map.entry("b", "2"));
    }

    @Test
    void everyEscapeOfJsonIsUnderstood() {
        assertThat(HeaderJson.read("{\"a\": \"\\n\\t\\r\\b\\f\\/\\\\\\\"\\u00e4\\uD83D\\uDE00\"}"))
                .containsEntry("a", "\n\t\r\b\f/\\\"ä😀");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '§',
            value = {
                "1 | 1",
                "-1.5e10 | -1.5e10",
                "true | true",
                "null | null",
                "[1, 2, 3] | [1, 2, 3]",
                "[] | []",
                "{} | {}",
                "{\"b\": {\"c\": [1, {\"d\": \"}\"}]}} | {\"b\": {\"c\": [1, {\"d\": \"}\"}]}}",
                "[\"],\", \"\\\"]\"] | [\"],\", \"\\\"]\"]"
            })
    void aValueThatIsNoStringIsReadAsItsJsonText(String value, String text) {
        assertThat(HeaderJson.read("{\"a\": " + value + ", \"z\": \"next\"}"))
                .containsExactly(Map.entry("a", text), Map.entry("z", "next"));
        assertThat(HeaderJson.read("{\"z\": \"before\", \"a\": " + value + "}"))
                .containsExactly(Map.entry("z", "before"), Map.entry("a", text));
    }

    @Test
    void whatIsNoObjectIsRefused() {
        assertThatThrownBy(() -> HeaderJson.read("[1, 2]"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Headers are not a JSON object: expected { at 0");
        assertThatThrownBy(() -> HeaderJson.read("{\"a\" \"b\"}"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Headers are not a JSON object: expected : at 5");
    }

    private static String hostile(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(8); i > 0; i--) {
            text.append(HOSTILE[random.nextInt(HOSTILE.length)]);
        }
        return text.toString();
    }
}
