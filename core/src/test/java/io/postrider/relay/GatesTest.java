// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class GatesTest {
    private static final long MS = 1_000_000;
    private static final Optional<Duration> NOTHING_ASKED = Optional.empty();
    /** Lets jitter change nothing. */
    private static final RandomGenerator HALF = () -> 1L << 63;

    private final Gates gates = new Gates(HALF);
    private final Delivery first = Deliveries.of(1, "s", "a");

    @Test
    void aGateClosesOnceAndForItsStreamAlone() {
        assertThat(gates.isClosed("s")).isFalse();
        assertThat(gates.down(first, NOTHING_ASKED, 0)).isTrue();
        assertThat(gates.down(Deliveries.of(2, "s", "b"), NOTHING_ASKED, 0)).isFalse();
        assertThat(gates.isClosed("s")).isTrue();
        assertThat(gates.isClosed("t")).isFalse();
        assertThat(gates.closed()).containsExactly("s");
    }

    @Test
    void trialsAreDueEverLaterUpToThreeSeconds() {
        gates.down(first, NOTHING_ASKED, 0);
        long now = 0;
        List<Long> millis = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            long wait = gates.nanosToTrial(now);
            millis.add(wait / MS);
            assertThat(gates.dueForTrial(now + wait - 1)).isEmpty();
            now += wait;
            assertThat(gates.dueForTrial(now)).contains("s");
            gates.choose("s", List.of(first));
            gates.down(first, NOTHING_ASKED, now);
        }
        assertThat(millis).containsExactly(200L, 400L, 800L, 1_600L, 3_000L, 3_000L, 3_000L);
    }

    @Test
    void eachWaitIsSpreadByAFifthBothWays() {
        Gates early = new Gates(() -> 0L);
        early.down(first, NOTHING_ASKED, 0);
        assertThat(early.nanosToTrial(0)).isEqualTo(160 * MS);
        Gates late = new Gates(() -> -1L);
        late.down(first, NOTHING_ASKED, 0);
        assertThat(late.nanosToTrial(0)).isBetween(239 * MS, 240 * MS);
    }

    @Test
    void oneTrialIsUnderWayAtATime() {
        gates.down(first, NOTHING_ASKED, 0);
        assertThat(gates.dueForTrial(200 * MS)).contains("s");
        assertThat(gates.dueForTrial(900 * MS)).isEmpty();
        assertThat(gates.nanosToTrial(900 * MS)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void theFailureOfWhatWasSentBeforeTheGateClosedDoesNotEndTheTrialOfAnother() {
        Delivery straggler = Deliveries.of(2, "s", "b");
        gates.down(first, NOTHING_ASKED, 0);
        gates.dueForTrial(200 * MS);
        assertThat(gates.down(straggler, NOTHING_ASKED, 200 * MS)).isFalse();
        assertThat(gates.dueForTrial(10_000 * MS))
                .as("asked for, not yet chosen")
                .isEmpty();

        gates.choose("s", List.of(first));
        assertThat(gates.down(straggler, NOTHING_ASKED, 210 * MS)).isFalse();
        assertThat(gates.dueForTrial(10_000 * MS)).isEmpty();

        gates.down(first, NOTHING_ASKED, 300 * MS);
        assertThat(gates.nanosToTrial(300 * MS)).as("the wait has doubled once").isEqualTo(400 * MS);
    }

    @Test
    void headsOfDifferentKeysAreTriedInTurn() {
        Delivery second = Deliveries.of(2, "s", "b");
        Delivery sameKey = Deliveries.of(3, "s", "a");
        Delivery unkeyed = Deliveries.of(4, "s", "");
        List<Delivery> heads = List.of(first, sameKey, second, unkeyed);
        gates.down(first, NOTHING_ASKED, 0);
        assertThat(gates.choose("s", heads)).isSameAs(first);
        assertThat(gates.choose("s", heads)).isSameAs(second);
        assertThat(gates.choose("s", heads)).isSameAs(unkeyed);
        assertThat(gates.choose("s", heads)).as("all tried: from the beginning").isSameAs(first);
        assertThat(gates.choose("s", heads)).isSameAs(second);
    }

    @Test
    void theFirstSuccessOpensTheGateAndTellsHowLongItWasClosed() {
        gates.down(first, NOTHING_ASKED, 100 * MS);
        assertThat(gates.succeeded("s", 350 * MS)).contains(Duration.ofMillis(250));
        assertThat(gates.isClosed("s")).isFalse();
        assertThat(gates.closed()).isEmpty();
        assertThat(gates.nanosToTrial(0)).isEqualTo(Long.MAX_VALUE);
        assertThat(gates.succeeded("s", 400 * MS)).isEmpty();
        assertThat(gates.succeeded("never seen", 0)).isEmpty();
    }

    @Test
    void aGateThatClosesAgainStartsFromTheShortWait() {
        for (int i = 0; i < 5; i++) {
            gates.down(first, NOTHING_ASKED, 0);
            gates.dueForTrial(100_000 * MS);
            gates.choose("s", List.of(first));
        }
        gates.succeeded("s", 0);
        gates.down(first, NOTHING_ASKED, 0);
        assertThat(gates.nanosToTrial(0)).isEqualTo(200 * MS);
    }

    @Test
    void tenDifferentRefusalsInARowMakeTheDestinationTheSuspect() {
        for (int i = 1; i <= 9; i++) {
            assertThat(gates.refused("s", new UUID(0, i))).isFalse();
        }
        assertThat(gates.refused("other", new UUID(0, 10))).isFalse();
        assertThat(gates.refused("s", new UUID(0, 10))).isTrue();
        assertThat(gates.isClosed("s")).as("closing is the caller's to do").isFalse();
    }

    @Test
    void theSameEventRefusedTenTimesIsOneRefusal() {
        for (int i = 1; i <= 20; i++) {
            assertThat(gates.refused("s", new UUID(0, 1))).isFalse();
        }
    }

    @Test
    void aSuccessBetweenRefusalsStartsTheCountAnew() {
        for (int i = 1; i <= 9; i++) {
            gates.refused("s", new UUID(0, i));
        }
        gates.succeeded("s", 0);
        for (int i = 10; i <= 18; i++) {
            assertThat(gates.refused("s", new UUID(0, i))).isFalse();
        }
        assertThat(gates.refused("s", new UUID(0, 19))).isTrue();
    }

    @Test
    void aDestinationMayAskForMoreTimeButNotForLess() {
        gates.down(first, Optional.of(Duration.ofSeconds(30)), 0);
        assertThat(gates.nanosToTrial(0)).isEqualTo(30_000 * MS);
        assertThat(gates.dueForTrial(29_999 * MS)).isEmpty();
        assertThat(gates.dueForTrial(30_000 * MS)).contains("s");

        Gates other = new Gates(HALF);
        other.down(first, Optional.of(Duration.ofMillis(1)), 0);
        assertThat(other.nanosToTrial(0)).isEqualTo(200 * MS);
    }

    @Test
    void aStragglersWishForMoreTimeIsHeardToo() {
        gates.down(first, NOTHING_ASKED, 0);
        gates.down(Deliveries.of(2, "s", "b"), Optional.of(Duration.ofSeconds(5)), 0);
        assertThat(gates.nanosToTrial(0)).isEqualTo(5_000 * MS);
    }

    @Test
    void aTrialThatWasNotSentAfterAllIsDueAgain() {
        gates.down(first, NOTHING_ASKED, 0);
        gates.dueForTrial(200 * MS);
        gates.choose("s", List.of(first));
        gates.gaveUp(Deliveries.of(2, "s", "b"));
        assertThat(gates.dueForTrial(200 * MS))
                .as("another delivery is no trial")
                .isEmpty();
        gates.gaveUp(first);
        assertThat(gates.dueForTrial(200 * MS)).contains("s");
        gates.gaveUp(Deliveries.of(3, "without a gate", "c"));
    }

    @Test
    void withNothingToTryTheNextTrialComesAfterTheSameWait() {
        gates.down(first, NOTHING_ASKED, 0);
        gates.dueForTrial(200 * MS);
        gates.nothingToTry("s", 200 * MS);
        assertThat(gates.nanosToTrial(200 * MS)).isEqualTo(200 * MS);
        assertThat(gates.dueForTrial(400 * MS)).contains("s");
    }

    @Test
    void severalClosedGatesAreTriedEachInItsTime() {
        gates.down(first, NOTHING_ASKED, 0);
        gates.down(Deliveries.of(2, "t", "a"), NOTHING_ASKED, 50 * MS);
        assertThat(gates.nanosToTrial(50 * MS)).isEqualTo(150 * MS);
        assertThat(gates.dueForTrial(200 * MS)).contains("s");
        assertThat(gates.dueForTrial(200 * MS)).isEmpty();
        assertThat(gates.dueForTrial(250 * MS)).contains("t");
        assertThat(gates.closed()).containsExactlyInAnyOrder("s", "t");
    }
}
