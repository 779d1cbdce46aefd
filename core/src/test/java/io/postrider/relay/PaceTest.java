// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class PaceTest {
    private static final long MS = 1_000_000;
    /** Lets jitter change nothing. */
    private static final RandomGenerator HALF = () -> 1L << 63;

    private long now = 1_000 * MS;
    private final Pace pace = pace(HALF, Duration.ofMillis(500));

    @Test
    void theFirstReadIsDueAtOnce() {
        assertThat(pace.nanosToRead(now)).isZero();
        assertThat(pace.mayTouchFeed(now)).isTrue();
    }

    @Test
    void emptyReadsFollowEachOtherEverLaterUpToTheIdleInterval() {
        read(found());
        List<Long> millis = new ArrayList<>(List.of(pace.nanosToRead(now) / MS));
        for (int i = 0; i < 8; i++) {
            read(Taken.nothing());
            millis.add(pace.nanosToRead(now) / MS);
        }
        assertThat(millis).containsExactly(10L, 20L, 40L, 80L, 160L, 320L, 500L, 500L, 500L);
    }

    @Test
    void whatIsFoundBringsTheShortIntervalBack() {
        for (int i = 0; i < 8; i++) {
            read(Taken.nothing());
        }
        read(found());
        assertThat(pace.nanosToRead(now)).isEqualTo(10 * MS);
        assertThat(pace.nanosToRead(now)).isPositive();
        now += 10 * MS;
        assertThat(pace.nanosToRead(now)).isZero();
        assertThat(pace.nanosToRead(now + 5 * MS)).isZero();
    }

    @Test
    void whatAReadLeftOutIsReadAsSoonAsSomethingIsWritten() {
        read(new Taken(List.of(), false, Optional.empty(), List.of(), false));
        assertThat(pace.lastReadWasEmpty()).isFalse();
        assertThat(pace.nanosToRead(now)).isPositive();
        pace.wrote();
        assertThat(pace.nanosToRead(now)).isZero();
        read(Taken.nothing());
        pace.wrote();
        assertThat(pace.nanosToRead(now)).isPositive();
    }

    @Test
    void everyIntervalIsSpreadByAFifthBothWays() {
        Pace spread = pace(new Random(11), Duration.ofMillis(500));
        for (int i = 0; i < 8; i++) {
            spread.read(Taken.nothing(), false, false, now, now);
        }
        long least = Long.MAX_VALUE;
        long most = 0;
        for (int i = 0; i < 2_000; i++) {
            spread.read(Taken.nothing(), false, false, now, now);
            least = Math.min(least, spread.nanosToRead(now));
            most = Math.max(most, spread.nanosToRead(now));
        }
        assertThat(least).isBetween(400 * MS, 405 * MS);
        assertThat(most).isBetween(595 * MS, 600 * MS);
    }

    @Test
    void anIdleIntervalBelowTheShortOneIsRaisedToIt() {
        Pace hasty = pace(HALF, Duration.ofMillis(1));
        hasty.read(Taken.nothing(), false, false, now, now);
        hasty.read(Taken.nothing(), false, false, now, now);
        assertThat(hasty.nanosToRead(now)).isEqualTo(10 * MS);
    }

    @Test
    void aReadThatWasCutOffIsFollowedAtOnce() {
        read(new Taken(found().deliveries(), true, Optional.empty()));
        assertThat(pace.nanosToRead(now)).isZero();
        assertThat(pace.lastReadWasEmpty()).isFalse();
    }

    @Test
    void aReadThatTookLongIsFollowedByARestAsLongAsItself() {
        pace.read(found(), false, false, now - 60 * MS, now);
        assertThat(pace.nanosToRest(now)).isEqualTo(60 * MS);
        pace.read(found(), false, false, now - 5_000 * MS, now);
        assertThat(pace.nanosToRest(now)).isEqualTo(250 * MS);
        pace.read(found(), false, false, now - 19 * MS, now);
        assertThat(pace.nanosToRest(now)).isZero();
    }

    @Test
    void aReadThatBroughtAllItCouldIsFollowedAtOnceHoweverLongItTook() {
        pace.read(new Taken(found().deliveries(), true, Optional.empty()), false, false, now - 5_000 * MS, now);
        assertThat(pace.nanosToRest(now)).isZero();
        assertThat(pace.nanosToRead(now)).isZero();
    }

    @Test
    void theNextDueEventIsReadInTimeAndNeverDelaysARead() {
        read(new Taken(List.of(), false, Optional.of(Duration.ofMillis(7))));
        assertThat(pace.nanosToRead(now)).isEqualTo(7 * MS);
        read(new Taken(List.of(), false, Optional.of(Duration.ofHours(1))));
        assertThat(pace.nanosToRead(now)).isEqualTo(40 * MS);
    }

    @Test
    void writtenRetriesAreReadWhenTheFirstOfThemIsDue() {
        for (int i = 0; i < 8; i++) {
            read(Taken.nothing());
        }
        pace.dueIn(List.of(retry(300), retry(200), retry(400)));
        assertThat(pace.nanosToRead(now)).isEqualTo(200 * MS);
        pace.dueIn(List.of(new Verdict(Deliveries.of(1, "s", "k"), new Outcome.Dead("C", "m"))));
        assertThat(pace.nanosToRead(now)).isEqualTo(200 * MS);
    }

    @Test
    void readNowMakesTheNextReadDueAndTheIntervalShort() {
        for (int i = 0; i < 8; i++) {
            read(Taken.nothing());
        }
        pace.readNow();
        assertThat(pace.nanosToRead(now)).isZero();
        read(Taken.nothing());
        assertThat(pace.nanosToRead(now)).isEqualTo(20 * MS);
    }

    @Test
    void onlyAReadWithoutEventsThatWasNotCutOffWasEmpty() {
        assertThat(pace.lastReadWasEmpty()).as("before the first read").isFalse();
        read(Taken.nothing());
        assertThat(pace.lastReadWasEmpty()).isTrue();
        read(new Taken(List.of(), true, Optional.empty()));
        assertThat(pace.lastReadWasEmpty()).isFalse();
        read(found());
        assertThat(pace.lastReadWasEmpty()).isFalse();
    }

    @Test
    void aFeedThatDoesNotAnswerIsLeftAloneEverLongerUpToASecond() {
        Pace patient = pace(() -> -1L, Duration.ofMillis(500));
        List<Long> millis = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            patient.feedFailed(failure(), now);
            assertThat(patient.mayTouchFeed(now)).isFalse();
            millis.add(Math.round(patient.nanosToFeed(now) / (double) MS));
            now += patient.nanosToFeed(now);
            assertThat(patient.mayTouchFeed(now)).isTrue();
        }
        assertThat(millis).containsExactly(50L, 100L, 200L, 400L, 800L, 1_000L, 1_000L, 1_000L);
    }

    @Test
    void jitterShortensThePauseByUpToHalf() {
        Pace lucky = pace(() -> 0L, Duration.ofMillis(500));
        lucky.feedFailed(failure(), now);
        assertThat(lucky.nanosToFeed(now)).isEqualTo(25 * MS);
    }

    @Test
    void aFeedThatAnswersAgainIsReadAtOnceAndItsNextFailureStartsFromTheShortPause() {
        Pace patient = pace(() -> 0L, Duration.ofMillis(500));
        patient.read(Taken.nothing(), false, false, now, now);
        patient.feedFailed(failure(), now);
        patient.feedFailed(failure(), now);
        assertThat(patient.nanosToFeed(now)).isEqualTo(50 * MS);
        now += 50 * MS;
        patient.feedAnswered();
        assertThat(patient.nanosToRead(now)).isZero();
        patient.feedFailed(failure(), now);
        assertThat(patient.nanosToFeed(now)).isEqualTo(25 * MS);
    }

    @Test
    void anAnswerWithoutAFailureBeforeChangesNothing() {
        read(Taken.nothing());
        pace.feedAnswered();
        assertThat(pace.nanosToRead(now)).isEqualTo(20 * MS);
    }

    @Test
    void itIsBehindWhenEveryReadHasLeftSomethingForHalfASecond() {
        Taken more = new Taken(found().deliveries(), true, Optional.empty());
        read(more);
        now += 499 * MS;
        pace.read(Taken.nothing(), true, false, now, now);
        assertThat(pace.isBehind()).isFalse();
        now += MS;
        assertThat(pace.isBehind()).isTrue();
        read(found());
        assertThat(pace.isBehind()).isFalse();
        read(more);
        assertThat(pace.isBehind()).as("counted anew").isFalse();
    }

    @Test
    void itIsBehindWhenReadsAreSlowOrPutOffSomethingForAsLong() {
        pace.read(found(), false, false, now - 100 * MS, now);
        now += 500 * MS;
        assertThat(pace.isBehind()).isTrue();
        pace.read(found(), false, false, now - 99 * MS, now);
        assertThat(pace.isBehind()).isFalse();
        pace.read(found(), false, true, now, now);
        now += 500 * MS;
        assertThat(pace.isBehind()).isTrue();
    }

    private Pace pace(RandomGenerator random, Duration idle) {
        return new Pace("r", () -> now, random, idle);
    }

    private void read(Taken taken) {
        pace.read(taken, false, false, now, now);
    }

    private static Taken found() {
        return new Taken(List.of(Deliveries.of(1, "s", "k")), false, Optional.empty());
    }

    private static Verdict retry(long millis) {
        return new Verdict(Deliveries.of(1, "s", "k"), new Outcome.Retry(Duration.ofMillis(millis), "C", "m"));
    }

    private static FeedException failure() {
        return new FeedException("down", new IllegalStateException());
    }
}
