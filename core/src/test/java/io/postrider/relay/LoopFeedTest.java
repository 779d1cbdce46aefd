// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class LoopFeedTest extends LoopRig {
    @Test
    void resultsAreKeptWhileTheFeedIsDownAndWrittenWhenItIsBack() {
        appendAll("s", "a", "b", "a");
        loop.turn();
        intake.failing = true;
        acknowledge(1);
        fail(2, new IllegalStateException("no"));
        int before = intake.calls;
        loop.turn();
        assertThat(intake.calls).isEqualTo(before + 1);
        assertThat(sent()).as("sends go on").endsWith(3L);
        assertThat(loop.isIdle()).isFalse();

        now += 37 * MS;
        long wait = loop.turn();
        assertThat(intake.calls).as("left alone for 37.5 ms").isEqualTo(before + 1);
        assertThat(wait).isEqualTo(MS / 2);
        now += wait;
        loop.turn();
        assertThat(intake.calls).isEqualTo(before + 2);
        assertThat(loop.turn()).as("then for 75 ms").isEqualTo(75 * MS);

        intake.failing = false;
        now += 75 * MS;
        acknowledge(3);
        loop.turn();
        assertThat(intake.settled).containsExactly(1L, 3L);
        assertThat(intake.written).extracting(v -> v.delivery().id()).containsExactly(2L);
        assertThat(loop.isIdle()).isTrue();
    }

    @Test
    void aReadThatWasRungForAndFailedIsTakenUpAgainAndItsOutageIsOne() {
        for (int i = 0; i < 10; i++) {
            now += loop.turn();
        }
        assertThat(loop.turn()).as("by itself it would look much later").isEqualTo(500 * MS);
        appendAll("s", "a");
        intake.failing = true;
        loop.ring();
        List<Long> pauses = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int before = intake.calls;
            long wait = loop.turn();
            assertThat(intake.calls).as("it asks again each time").isEqualTo(before + 1);
            pauses.add(wait / 100_000);
            now += wait;
        }
        assertThat(pauses)
                .as("in tenths of a millisecond, each twice the last")
                .containsExactly(375L, 750L, 1500L, 3000L);
        intake.failing = false;
        loop.turn();
        assertThat(sent()).containsExactly(1L);
    }

    @Test
    void aRingWakesOnceUntilTheNextRead() {
        loop.turn();
        loop.ring();
        loop.ring();
        assertThat(wakes).hasValue(1);
        assertThat(loop.turn()).as("after an empty read").isPositive();
        loop.ring();
        assertThat(wakes).hasValue(2);
    }

    @Test
    void aRingMakesTheNextTurnRead() {
        turns(10);
        int before = intake.demands.size();
        loop.turn();
        assertThat(intake.demands).as("not due").hasSize(before);
        loop.ring();
        loop.turn();
        assertThat(intake.demands).hasSize(before + 1);
    }

    @Test
    void anAnswerWakesTheLoopAndIsWaitedForNoLonger() {
        appendAll("s", "a");
        assertThat(loop.turn()).isPositive();
        acknowledge(1);
        assertThat(wakes).hasValue(1);
        assertThat(loop.isIdle()).isFalse();
        assertThat(loop.turn()).isEqualTo(5 * MS);
        turnThatSettles();
        assertThat(loop.isIdle()).isTrue();
    }

    @Test
    void aPublisherThatAnswersAtOnceKeepsTheLoopTurning() {
        Publisher quick = event -> CompletableFuture.completedFuture(null);
        loop = loop(new Window(100, 1 << 20), quick);
        appendAll("s", "a", "a", "a");
        assertThat(loop.turn()).isZero();
        assertThat(loop.turn()).isZero();
        assertThat(loop.turn()).isZero();
        loop.turn();
        turnThatSettles();
        assertThat(intake.settled).containsExactly(1L, 2L, 3L);
    }

    @Test
    void anEmptyReadIsKnownAsOne() {
        appendAll("s", "a");
        loop.turn();
        assertThat(loop.foundNothing()).isFalse();
        acknowledge(1);
        loop.turn();
        now += 10 * MS;
        loop.turn();
        assertThat(loop.foundNothing()).isTrue();
    }

    @Test
    void whatIsAnsweredOneAfterTheOtherIsSettledTogether() {
        appendAll("s", "a", "b");
        loop.turn();
        acknowledge(1);
        loop.turn();
        now += 4 * MS;
        acknowledge(2);
        loop.turn();
        int before = intake.calls;
        now += MS;
        loop.turn();
        assertThat(intake.settled).containsExactly(1L, 2L);
        assertThat(intake.calls).isEqualTo(before + 1);
    }

    @Test
    void whereMoreIsWaitingToBeReadASettleWaitsForNothing() {
        loop = loop(new Window(4, 1 << 20));
        appendAll("s", "a", "b", "c", "d", "e", "f", "g", "h");
        loop.turn();
        List<Long> first = sent();
        first.forEach(this::acknowledge);
        loop.turn();
        assertThat(intake.settled).containsExactlyElementsOf(first);
    }

    @Test
    void whatWasJustCommittedDoesNotWaitForASettle() {
        appendAll("s", "a");
        loop.turn();
        acknowledge(1);
        loop.turn();
        now += 5 * MS;
        appendAll("s", "b");
        loop.ring();
        intake.onSettle = () -> assertThat(sent()).containsExactly(1L, 2L);
        loop.turn();
        assertThat(intake.settled).containsExactly(1L);
    }

    @Test
    void whatWasDeliveredIsSettledThoughReadsFail() {
        appendAll("s", "a");
        loop.turn();
        acknowledge(1);
        loop.turn();
        now += 5 * MS;
        loop.ring();
        intake.onTake = () -> {
            throw new FeedException("Reads take too long", new IllegalStateException());
        };
        loop.turn();
        assertThat(intake.settled).isEmpty();
        now += 1_000 * MS;
        loop.turn();
        assertThat(intake.settled).containsExactly(1L);
    }

    @Test
    void whereSomethingUnderWayStandsInTheWayASettleWaitsForNothingAndIsReadAfter() {
        intake.complete = false;
        appendAll("s", "a");
        loop.turn();
        acknowledge(1);
        int before = intake.demands.size();
        loop.turn();
        assertThat(intake.settled).containsExactly(1L);
        assertThat(intake.demands).hasSize(before + 1);
        assertThat(loop.foundNothing()).isFalse();
    }

    @Test
    void whereEventsAreSentAtTheirCommitASettleWaitsForNothing() {
        leasesCommits = true;
        loop = loop(new Window(100, 1 << 20));
        appendAll("s", "a");
        loop.turn();
        acknowledge(1);
        loop.turn();
        assertThat(intake.settled).containsExactly(1L);
    }

    @Test
    void whatWasDeliveredIsSettledThoughReadsEndTheTurn() {
        appendAll("s", "a");
        loop.turn();
        acknowledge(1);
        loop.turn();
        now += 5 * MS;
        intake.onTake = () -> {
            throw new IllegalStateException("too large");
        };
        for (int i = 0; i < 2; i++) {
            loop.ring();
            assertThatThrownBy(loop::turn).hasMessage("too large");
        }
        assertThat(intake.settled).containsExactly(1L);
    }
}
