// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.relay.Failure.Fault;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JudgeTest {
    private final Judge judge = new Judge(
            RetryPolicy.delays(Duration.ofSeconds(1), Duration.ofSeconds(5)).attempts(3), () -> 0L);

    @ParameterizedTest(name = "{0}, gate closed {1}, {2} failed before: {3}")
    @CsvSource({
        "DESTINATION, false, 0, released",
        "DESTINATION, false, 99, released",
        "DESTINATION, true, 0, released",
        "NOBODY, false, 0, released",
        "NOBODY, false, 99, released",
        "EVENT_PERMANENT, false, 0, dead",
        "EVENT_PERMANENT, false, 99, dead",
        "EVENT_PERMANENT, true, 0, released",
        "EVENT_PERMANENT, true, 99, released",
        "EVENT_RETRYABLE, false, 0, PT1S",
        "EVENT_RETRYABLE, false, 1, PT5S",
        "EVENT_RETRYABLE, false, 2, dead",
        "EVENT_RETRYABLE, false, 99, dead",
        "EVENT_RETRYABLE, true, 0, released",
        "EVENT_RETRYABLE, true, 99, released",
        "EVENT_UNKNOWN, false, 0, unknown",
        "EVENT_UNKNOWN, false, 99, unknown",
        "EVENT_UNKNOWN, true, 0, unknown"
    })
    void whoseFaultItIsDecides(Fault fault, boolean gateClosed, int failedBefore, String expected) {
        Outcome outcome = judge.judge(delivery(failedBefore, 0), failure(fault), gateClosed);
        assertThat(outcome)
                .isEqualTo(
                        switch (expected) {
                            case "released" -> new Outcome.Released();
                            case "unknown" -> new Outcome.Unknown("C", "m");
                            case "dead" -> new Outcome.Dead("C", "m");
                            default -> new Outcome.Retry(Duration.parse(expected), "C", "m");
                        });
    }

    @Test
    void theEventsOwnNumberOfAttemptsGoesBeforeThePolicys() {
        Failure failure = failure(Fault.EVENT_RETRYABLE);
        assertThat(judge.judge(delivery(0, 1), failure, false)).isEqualTo(new Outcome.Dead("C", "m"));
        assertThat(judge.judge(delivery(2, 10), failure, false))
                .isEqualTo(new Outcome.Retry(Duration.ofSeconds(5), "C", "m"));
        assertThat(judge.judge(delivery(8, 10), failure, false))
                .isEqualTo(new Outcome.Retry(Duration.ofSeconds(5), "C", "m"));
        assertThat(judge.judge(delivery(9, 10), failure, false)).isEqualTo(new Outcome.Dead("C", "m"));
    }

    @Test
    void theDelayHasThePolicysJitter() {
        Judge spread = new Judge(RetryPolicy.ofDefaults(), () -> 0L);
        assertThat(spread.judge(delivery(0, 0), failure(Fault.EVENT_RETRYABLE), false))
                .isEqualTo(new Outcome.Retry(Duration.ofMillis(1_600), "C", "m"));
    }

    @Test
    void aDelayThatWasAskedForReplacesThePolicysAndIsNoFurtherAttempt() {
        Failure later = new Failure(Fault.EVENT_RETRYABLE, "C", "m", Optional.of(Duration.ofMinutes(7)));
        assertThat(judge.judge(delivery(1, 0), later, false))
                .isEqualTo(new Outcome.Retry(Duration.ofMinutes(7), "C", "m"));
        assertThat(judge.judge(delivery(2, 0), later, false)).isEqualTo(new Outcome.Dead("C", "m"));
    }

    private static Delivery delivery(int failedBefore, int maxAttempts) {
        var event = Deliveries.event("s", "k");
        return Deliveries.of(1, failedBefore, (maxAttempts == 0 ? event : event.maxAttempts(maxAttempts)).build());
    }

    private static Failure failure(Fault fault) {
        return new Failure(fault, "C", "m", Optional.empty());
    }
}
