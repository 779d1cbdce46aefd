// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetryPolicyTest {

    @ParameterizedTest(name = "after {0} failures {1} s")
    @CsvSource({
        "1, 2",
        "2, 4",
        "3, 8",
        "4, 16",
        "5, 32",
        "6, 64",
        "7, 128",
        "8, 256",
        "9, 512",
        "10, 600",
        "11, 600",
        "10000, 600",
        "2147483647, 600"
    })
    void twoSecondsDoubleUpToTenMinutes(int failed, long seconds) {
        RetryPolicy policy = RetryPolicy.exponential(Duration.ofSeconds(2), Duration.ofMinutes(10));
        assertThat(policy.delay(failed)).isEqualTo(Duration.ofSeconds(seconds));
        assertThat(RetryPolicy.ofDefaults().delay(failed)).isEqualTo(Duration.ofSeconds(seconds));
    }

    @ParameterizedTest(name = "after {0} failures {1} s")
    @CsvSource({"1, 1", "2, 5", "3, 30", "4, 300", "5, 1800", "6, 1800", "10000, 1800", "2147483647, 1800"})
    void explicitDelaysGoInTurnAndTheLastRepeats(int failed, long seconds) {
        assertThat(RetryPolicy.stepped().delay(failed)).isEqualTo(Duration.ofSeconds(seconds));
    }

    @ParameterizedTest(name = "after {0} failures {1} ms")
    @CsvSource({"1, 500", "2, 1000", "7, 32000", "8, 60000", "10000, 60000"})
    void theBriskOneStartsAtHalfASecondAndEndsAtAMinute(int failed, long millis) {
        assertThat(RetryPolicy.brisk().delay(failed)).isEqualTo(Duration.ofMillis(millis));
    }

    @Test
    void everyDelayIsTheOneBeforeTimesTheFactorUntilTheLongest() {
        RetryPolicy policy = RetryPolicy.exponential(Duration.ofSeconds(1), Duration.ofHours(1))
                .factor(1.5);
        long[] millis = IntStream.rangeClosed(1, 5)
                .mapToLong(failed -> policy.delay(failed).toMillis())
                .toArray();
        assertThat(millis).containsExactly(1_000, 1_500, 2_250, 3_375, 5_063);
        assertThat(policy.factor(1).delay(40)).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void theLongestDelayMayBeTheFirst() {
        RetryPolicy policy = RetryPolicy.exponential(Duration.ofSeconds(3), Duration.ofSeconds(3));
        assertThat(policy.delay(1)).isEqualTo(Duration.ofSeconds(3));
        assertThat(policy.delay(9)).isEqualTo(Duration.ofSeconds(3));
    }

    @Test
    void anExplicitDelayIsNeverShortened() {
        assertThat(RetryPolicy.delays(Duration.ofDays(400)).delay(1)).isEqualTo(Duration.ofDays(400));
    }

    @Test
    void attemptsAreFiveOrOneMoreThanThereAreDelaysUnlessChanged() {
        assertThat(RetryPolicy.exponential(Duration.ofSeconds(1), Duration.ofSeconds(1))
                        .maxAttempts())
                .isEqualTo(5);
        assertThat(RetryPolicy.ofDefaults().maxAttempts()).isEqualTo(5);
        assertThat(RetryPolicy.stepped().maxAttempts()).isEqualTo(6);
        assertThat(RetryPolicy.brisk().maxAttempts()).isEqualTo(10);
        assertThat(RetryPolicy.delays(Duration.ofSeconds(1)).attempts(1).maxAttempts())
                .isEqualTo(1);
    }

    @Test
    void settingOneThingKeepsTheOthers() {
        RetryPolicy policy = RetryPolicy.exponential(Duration.ofSeconds(1), Duration.ofSeconds(9))
                .factor(3)
                .jitter(0.5)
                .attempts(7);
        for (RetryPolicy same : new RetryPolicy[] {policy.attempts(7), policy.jitter(0.5), policy.factor(3)}) {
            assertThat(same.maxAttempts()).isEqualTo(7);
            assertThat(same.delay(2)).isEqualTo(Duration.ofSeconds(3));
            assertThat(same.delay(4)).isEqualTo(Duration.ofSeconds(9));
            assertThat(same.delay(1, () -> 0L)).isEqualTo(Duration.ofMillis(500));
        }
    }

    @Test
    void withoutJitterChanceChangesNothing() {
        Random random = new Random(3);
        for (int i = 0; i < 100; i++) {
            assertThat(RetryPolicy.stepped().delay(3, random)).isEqualTo(Duration.ofSeconds(30));
        }
    }

    @Test
    void jitterSpreadsEachDelayOverItsWholeShareAndNotBeyond() {
        RetryPolicy policy = RetryPolicy.ofDefaults();
        Random random = new Random(5);
        for (int failed = 1; failed <= 12; failed++) {
            long exact = policy.delay(failed).toMillis();
            long least = Long.MAX_VALUE;
            long most = 0;
            for (int i = 0; i < 2_000; i++) {
                long millis = policy.delay(failed, random).toMillis();
                least = Math.min(least, millis);
                most = Math.max(most, millis);
            }
            assertThat(least).isBetween((long) (exact * 0.8), (long) (exact * 0.81));
            assertThat(most).isBetween((long) (exact * 1.19), (long) Math.ceil(exact * 1.2));
        }
    }

    @Test
    void aFirstDelayBelowAMillisecondIsRefusedSinceItWouldNeverGrow() {
        assertThatThrownBy(() -> RetryPolicy.exponential(Duration.ofNanos(1), Duration.ofSeconds(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("The first delay is PT0.000000001S. Give a millisecond or more.");
    }

    @Test
    void whatContradictsItselfIsRefusedWithBothValues() {
        assertThatThrownBy(() -> RetryPolicy.exponential(Duration.ofSeconds(2), Duration.ofSeconds(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("The longest delay (PT1S) is shorter than the first (PT2S). Swap or raise it.");
        assertThatThrownBy(() -> RetryPolicy.exponential(Duration.ZERO, Duration.ofSeconds(1)))
                .hasMessage("The first delay is PT0S. Give a millisecond or more.");
        assertThatThrownBy(() -> RetryPolicy.delays()).hasMessage("No delay was given. Give at least one.");
        assertThatThrownBy(() -> RetryPolicy.delays(Duration.ofSeconds(1), Duration.ofSeconds(-1)))
                .hasMessage("The delay is PT-1S. Give a millisecond or more.");
    }

    @Test
    void explicitDelaysHaveNoFactorHoweverFewTheyAre() {
        assertThatThrownBy(() -> RetryPolicy.stepped().factor(2))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("A policy of explicit delays has no factor.");
        assertThatThrownBy(() -> RetryPolicy.delays(Duration.ofSeconds(1)).factor(2))
                .hasMessage("A policy of explicit delays has no factor.");
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.99, 100.1, -2, Double.NaN, Double.POSITIVE_INFINITY})
    void aFactorOutsideItsRangeIsRefused(double factor) {
        assertThatThrownBy(() -> RetryPolicy.ofDefaults().factor(factor))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Factor " + factor + " is not between 1 and 100.");
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.1, 1, 2, Double.NaN})
    void aJitterOutsideItsRangeIsRefused(double jitter) {
        assertThatThrownBy(() -> RetryPolicy.ofDefaults().jitter(jitter))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Jitter " + jitter + " is not between 0 and 1.");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1})
    void fewerThanOneAttemptIsRefused(int attempts) {
        assertThatThrownBy(() -> RetryPolicy.ofDefaults().attempts(attempts))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("maxAttempts is " + attempts + ". Give 1 or more.");
        assertThatThrownBy(() -> RetryPolicy.ofDefaults().delay(attempts))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("There is no delay after " + attempts + " failed attempts.");
    }

    @Test
    void theLastAttemptIsAtTheEndOfAllDelays() {
        assertThat(RetryPolicy.exponential(Duration.ofSeconds(2), Duration.ofSeconds(10))
                        .attempts(6)
                        .longest())
                .isEqualTo(Duration.ofSeconds(2 + 4 + 8 + 10 + 10));
        assertThat(RetryPolicy.stepped().longest()).isEqualTo(Duration.ofSeconds(1 + 5 + 30 + 300 + 1_800));
        assertThat(RetryPolicy.stepped().attempts(8).longest()).isEqualTo(Duration.ofSeconds(336 + 3 * 1_800));
        assertThat(RetryPolicy.ofDefaults().longest()).isEqualTo(Duration.ofSeconds(36));
        assertThat(RetryPolicy.ofDefaults().attempts(1).longest()).isZero();
        assertThat(RetryPolicy.delays(Duration.ofMinutes(30))
                        .attempts(1_000_000_000)
                        .longest())
                .isEqualTo(Duration.ofMinutes(30).multipliedBy(999_999_999));
    }
}
