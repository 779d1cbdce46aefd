// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class EventRulesTest {
    private static final String REFUSED = "Event T (stream s) was not appended: ";

    /** The parts of an event that are text, how each is set, and how many bytes it may have. */
    static List<Arguments> texts() {
        return List.of(
                text("key", 512, value -> event().key(value)),
                text("dedup key", 512, value -> event().dedupKey(value)),
                text("aggregate type", 256, value -> event().aggregate(value, 1)),
                text("aggregate id", 512, value -> event().aggregate("A", value).key("k")),
                text("content type", 256, value -> event().payload(new byte[0], value)),
                text("header name", 128, value -> event().header(value, "v")),
                text("value of header h", 4096, value -> event().header("h", value)));
    }

    @ParameterizedTest
    @MethodSource("texts")
    void aTextMayHaveExactlyItsLimitInBytes(String what, int limit, Function<String, OutboxEvent.Builder> with) {
        assertThatCode(() -> with.apply("x".repeat(limit)).build()).doesNotThrowAnyException();
        assertRefused(
                with.apply("x".repeat(limit + 1)),
                what + " has " + (limit + 1) + " bytes and the limit is " + limit + ". Shorten it.");
    }

    @ParameterizedTest
    @MethodSource("texts")
    void limitsCountBytesAndNotCharacters(String what, int limit, Function<String, OutboxEvent.Builder> with) {
        String fits = "ü".repeat(limit / 2);
        assertThatCode(() -> with.apply(fits).build()).doesNotThrowAnyException();
        assertRefused(
                with.apply(fits + "ü"),
                what + " has " + (limit + 2) + " bytes and the limit is " + limit + ". Shorten it.");
        assertRefused(
                with.apply("😀".repeat(limit / 4) + "😀"),
                what + " has " + (limit + 4) + " bytes and the limit is " + limit + ". Shorten it.");
    }

    @ParameterizedTest
    @MethodSource("texts")
    void aControlCharacterIsRefusedWithItsPlace(String what, int limit, Function<String, OutboxEvent.Builder> with) {
        assertRefused(with.apply("ab\0c"), what + " has a control character (U+0000) at position 2. Remove it.");
        assertRefused(with.apply("ab\n"), what + " has a control character (U+000A) at position 2. Remove it.");
        assertRefused(with.apply("\u007fab"), what + " has a control character (U+007F) at position 0. Remove it.");
        assertRefused(with.apply("a\u0085b"), what + " has a control character (U+0085) at position 1. Remove it.");
    }

    @ParameterizedTest
    @MethodSource("texts")
    void anEmptyTextIsRefused(String what, int limit, Function<String, OutboxEvent.Builder> with) {
        if (!what.startsWith("value of header")) {
            assertRefused(with.apply(""), what + " is empty. Give it a value.");
        }
        assertRefused(with.apply(" "), what + " is empty. Give it a value.");
    }

    @Test
    void aHeaderMayBeEmpty() {
        assertThat(event().header("h", "").build().headers()).containsEntry("h", "");
    }

    @Test
    void streamAndTypeHaveTheSameRules() {
        assertMessage(OutboxEvent.of("", "T"), "Event T (stream ) was not appended: stream is empty. Give it a value.");
        assertMessage(OutboxEvent.of("s", " "), "Event   (stream s) was not appended: type is empty. Give it a value.");
        assertThatCode(() -> OutboxEvent.of("s".repeat(128), "T".repeat(256)).build())
                .doesNotThrowAnyException();
        assertMessage(
                OutboxEvent.of("ü".repeat(64) + "s", "T"),
                "Event T (stream " + "ü".repeat(64)
                        + "…) was not appended: stream has 129 bytes and the limit is 128. Shorten it.");
        assertMessage(
                OutboxEvent.of("s", "T".repeat(257)),
                "Event " + "T".repeat(64)
                        + "… (stream s) was not appended: type has 257 bytes and the limit is 256. Shorten it.");
    }

    @Test
    void noControlCharacterGetsIntoTheMessage() {
        assertMessage(
                OutboxEvent.of("a\r\nFAKE LOG LINE", "T"),
                "Event T (stream a??FAKE LOG LINE) was not appended: stream has a control character (U+000D) at"
                        + " position 1. Remove it.");
        assertMessage(
                OutboxEvent.of("s", "T\u0085\u009b"),
                "Event T?? (stream s) was not appended: type has a control character (U+0085) at position 1."
                        + " Remove it.");
    }

    @Test
    void sixtyFourHeadersAreAllowedAndNoMore() {
        OutboxEvent.Builder builder = event();
        for (int i = 0; i < 64; i++) {
            builder.header("h" + i, "v");
        }
        assertThat(builder.build().headers()).hasSize(64);
        assertRefused(
                builder.header("one-more", "v"),
                "it has 65 headers and the limit is 64. Move what is data into the payload.");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "authorization",
                "proxy-authorization",
                "cookie",
                "set-cookie",
                "x-api-key",
                "api-key",
                "x-auth-token"
            })
    void headersThatUsuallyCarryACredentialAreRefusedInAnyCase(String name) {
        List<UnaryOperator<String>> cases = List.of(
                n -> n,
                n -> n.toUpperCase(Locale.ROOT),
                n -> n.substring(0, 1).toUpperCase(Locale.ROOT) + n.substring(1));
        for (UnaryOperator<String> change : cases) {
            String written = change.apply(name);
            assertRefused(
                    event().header(written, "v"),
                    "header " + written + " usually carries a credential, and events are stored and shown. Leave it"
                            + " out; a consumer should hold its own credentials.");
        }
        assertThatCode(() -> event().header(name + "-hash", "v").build()).doesNotThrowAnyException();
    }

    @Test
    void headerNamesAreComparedWithoutRegardToTheMachinesLanguage() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag("tr"));
            assertRefused(
                    event().header("AUTHORIZATION", "v"),
                    "header AUTHORIZATION usually carries a credential, and events are stored and shown. Leave it out;"
                            + " a consumer should hold its own credentials.");
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void headersOfThePublishersAreReservedInAnyCase() {
        assertRefused(
                event().header("postrider-id", "v"),
                "header postrider-id starts with the reserved postrider-. Choose another name.");
        assertRefused(
                event().header("Postrider-Gap", "v"),
                "header Postrider-Gap starts with the reserved postrider-. Choose another name.");
        assertThatCode(() -> event().header("postrider", "v").build()).doesNotThrowAnyException();
    }

    @Test
    void aNegativeDelayIsRefusedAndAZeroOneIsNot() {
        assertThatCode(() -> event().delay(Duration.ZERO).build()).doesNotThrowAnyException();
        assertRefused(
                event().delay(Duration.ofMillis(-1)), "delay is negative (PT-0.001S). Give a delay of zero or more.");
    }

    @Test
    void anEventMustBeWorthSomethingForAWhile() {
        Instant now = Instant.now();
        assertThatCode(() -> event().expiresAt(now.minusSeconds(30)).build())
                .as("the clocks may differ")
                .doesNotThrowAnyException();
        Instant past = now.minusSeconds(61);
        assertRefused(
                event().expiresAt(past), "it expired at " + past + ". Give a time to come, or leave the expiry out.");
        for (Duration none : List.of(Duration.ZERO, Duration.ofMillis(-1), Duration.ofDays(36_526))) {
            assertRefused(
                    event().expiresIn(none),
                    "it expires in " + none + ". Give a time of more than zero and up to 100 years.");
        }
    }

    @Test
    void anEventMustNotExpireBeforeItIsDue() {
        Instant due = Instant.now().plusSeconds(60);
        assertThatCode(() -> event().notBefore(due).expiresAt(due.plusMillis(1)).build())
                .doesNotThrowAnyException();
        assertRefused(
                event().notBefore(due).expiresAt(due),
                "it expires at " + due + " and is not due before that (at " + due
                        + "). Let it expire later, or be due earlier.");
        assertRefused(
                event().delay(Duration.ofSeconds(2)).expiresIn(Duration.ofSeconds(1)),
                "it expires in PT1S and is not due before that (in PT2S). Let it expire later, or be due earlier.");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1})
    void fewerThanOneAttemptIsRefused(int attempts) {
        assertRefused(
                event().maxAttempts(attempts),
                "maxAttempts is " + attempts + ". Give 1 or more, or leave it to the relay's retry policy.");
    }

    @Test
    void aPayloadMayHaveExactlyTheLimit() {
        OutboxEvent event = event().payload(new byte[100]).build();
        assertThatCode(() -> EventRules.checkPayload(event, 100)).doesNotThrowAnyException();
        assertThatThrownBy(() -> EventRules.checkPayload(event, 99))
                .isInstanceOf(OutboxException.class)
                .hasMessage(REFUSED + "payload has 100 bytes and the limit is 99. Store the document elsewhere and send"
                        + " its address, or raise the payload limit together with the destination's.");
        assertThatCode(() -> EventRules.checkPayload(event().build(), 1)).doesNotThrowAnyException();
    }

    private static OutboxEvent.Builder event() {
        return OutboxEvent.of("s", "T");
    }

    private static Arguments text(String what, int limit, Function<String, OutboxEvent.Builder> with) {
        return Arguments.of(what, limit, with);
    }

    private static void assertRefused(OutboxEvent.Builder builder, String why) {
        assertMessage(builder, REFUSED + why);
    }

    private static void assertMessage(OutboxEvent.Builder builder, String message) {
        assertThatThrownBy(builder::build).isInstanceOf(OutboxException.class).hasMessage(message);
    }
}
