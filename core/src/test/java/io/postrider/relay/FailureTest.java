// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.relay.Failure.Fault;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class FailureTest {

    @Test
    void whatAPublisherSaysIsBelieved() {
        assertThat(Failure.of(new PermanentFailureException("TOO_LARGE", "2 MB")))
                .isEqualTo(new Failure(Fault.EVENT_PERMANENT, "TOO_LARGE", "2 MB", Optional.empty()));
        assertThat(Failure.of(new RetryableFailureException("NACK", "not now", null)))
                .isEqualTo(new Failure(Fault.EVENT_RETRYABLE, "NACK", "not now", Optional.empty()));
        assertThat(Failure.of(new RetryableFailureException("BUSY", "later", null, Duration.ofSeconds(3))))
                .isEqualTo(new Failure(Fault.EVENT_RETRYABLE, "BUSY", "later", Optional.of(Duration.ofSeconds(3))));
        assertThat(Failure.of(new UnknownOutcomeException("CUT", "reply lost", null)))
                .isEqualTo(new Failure(Fault.EVENT_UNKNOWN, "CUT", "reply lost", Optional.empty()));
        assertThat(Failure.of(new DestinationDownException("GONE", "no route", null)))
                .isEqualTo(new Failure(Fault.DESTINATION, "GONE", "no route", Optional.empty()));
        assertThat(Failure.of(new DestinationDownException("BUSY", "429", null, Duration.ofSeconds(7))))
                .isEqualTo(new Failure(Fault.DESTINATION, "BUSY", "429", Optional.of(Duration.ofSeconds(7))));
    }

    @Test
    void anythingElseIsThisEventsFaultAndMayBeTriedAgain() {
        assertThat(Failure.of(new IOException("broken pipe")))
                .isEqualTo(new Failure(
                        Fault.EVENT_RETRYABLE, "IOException", "IOException: broken pipe", Optional.empty()));
        assertThat(Failure.of(new IllegalStateException()))
                .isEqualTo(new Failure(
                        Fault.EVENT_RETRYABLE, "IllegalStateException", "IllegalStateException", Optional.empty()));
        assertThat(Failure.of(new StackOverflowError()).fault()).isEqualTo(Fault.EVENT_RETRYABLE);
    }

    @Test
    void anAnonymousExceptionHasACodeToo() {
        assertThat(Failure.of(new RuntimeException("odd") {
                    private static final long serialVersionUID = 1L;
                }))
                .isEqualTo(new Failure(
                        Fault.EVENT_RETRYABLE, "RuntimeException", "RuntimeException: odd", Optional.empty()));
    }

    @Test
    void wrappingsOfFuturesAreTakenOff() {
        PermanentFailureException real = new PermanentFailureException("TOO_LARGE", "2 MB");
        assertThat(Failure.of(new CompletionException(real)).code()).isEqualTo("TOO_LARGE");
        assertThat(Failure.of(new ExecutionException(new CompletionException(new ExecutionException(real))))
                        .fault())
                .isEqualTo(Fault.EVENT_PERMANENT);
        assertThat(Failure.of(new CompletionException("alone", null)).message())
                .isEqualTo("CompletionException: alone");
        assertThat(Failure.of(new IllegalStateException(real)).fault())
                .as("only futures wrap, others mean what they say")
                .isEqualTo(Fault.EVENT_RETRYABLE);
    }

    @Test
    void theMessageIsOneLine() {
        assertThat(message(" first\r\n\tsecond\0third\u007f ")).isEqualTo("first second third");
        assertThat(message("next\u0085line\u2028separated\u2029so")).isEqualTo("next line separated so");
    }

    @Test
    void theMessageHasAtMostAThousandCharacters() {
        assertThat(message("x".repeat(1_000))).isEqualTo("x".repeat(1_000));
        assertThat(message("x".repeat(1_001))).isEqualTo("x".repeat(999) + "…");
        assertThat(message("x".repeat(998) + "😀😀"))
                .as("a character of two halves is not cut in the middle")
                .isEqualTo("x".repeat(998) + "…");
    }

    @Test
    void aMissingMessageIsNoError() {
        assertThat(Failure.of(new PermanentFailureException("C", absent())).message())
                .isEqualTo("null");
    }

    @Test
    void noAnswerIsTheDestinationsFault() {
        assertThat(Failure.noAnswer(Duration.ofSeconds(60)))
                .isEqualTo(new Failure(
                        Fault.DESTINATION,
                        "NO_ANSWER",
                        "The publisher gave no answer within 60000 ms",
                        Optional.empty()));
    }

    private static String message(String text) {
        return Failure.of(new PermanentFailureException("C", text)).message();
    }

    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
    private static <T> T absent() {
        return null;
    }
}
