// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConsumerRulesTest {
    @ParameterizedTest
    @ValueSource(strings = {"b", "billing", "shop.billing-2/eu", "Rechnung für alle"})
    void aNameMayBeAnyTextThatCanBeShown(String consumer) {
        assertThatCode(() -> ConsumerRules.check(consumer)).doesNotThrowAnyException();
    }

    @Test
    void theLimitCountsBytesAndNotCharacters() {
        assertThatCode(() -> ConsumerRules.check("ü".repeat(64))).doesNotThrowAnyException();
        assertRefused(
                "ü".repeat(64) + "x",
                "Consumer '" + "ü".repeat(64)
                        + "…' was refused: its name has 129 bytes and the limit is 128. Shorten it.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\t"})
    void anEmptyNameIsRefused(String consumer) {
        assertRefused(
                consumer,
                "Consumer '" + consumer.replace("\t", "?") + "' was refused: its name is empty. Give it a value.");
    }

    @ParameterizedTest
    @CsvSource({"0,0000", "10,000A", "127,007F", "133,0085"})
    void aControlCharacterIsRefusedWithItsPlaceAndNotShown(int character, String code) {
        assertRefused(
                "ab" + (char) character + "c",
                "Consumer 'ab?c' was refused: its name has a control character (U+" + code
                        + ") at position 2. Remove it.");
    }

    private static void assertRefused(String consumer, String message) {
        assertThatThrownBy(() -> ConsumerRules.check(consumer))
                .isInstanceOf(OutboxException.class)
                .hasMessage(message);
    }
}
