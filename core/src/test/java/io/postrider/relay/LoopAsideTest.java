// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is settled while the loop reads on. */
class LoopAsideTest extends LoopRig {
    private final FakeSettler settler = new FakeSettler(intake);

    @BeforeEach
    void settleAside() {
        intake.settler = settler;
        loop = loop(new Window(100, 1 << 20));
    }

    @Test
    void inABacklogItReadsOnWhileItSettles() {
        backlog(300);
        answer(1, 75);
        turns(2);
        assertThat(settler.offers()).isEqualTo(1);
        assertThat(sent()).as("there is room again").hasSize(150);
        assertThat(intake.taken()).as("what is being settled is not read again").hasSize(150);
        assertThat(told).isEmpty();
        assertThat(loop.unsettled()).isEqualTo(75);
        settler.settleNext();
        assertThat(wakes.get()).isPositive();
        loop.turn();
        assertThat(told).hasSize(75);
        assertThat(intake.settled).hasSize(75);
        assertThat(intake.taken()).hasSize(75);
        assertThat(loop.unsettled()).isZero();
    }

    @Test
    void whereNothingMoreIsToBeReadItSettlesByItself() {
        backlog(10);
        answer(1, 10);
        turnThatSettles();
        turnThatSettles();
        assertThat(settler.offers()).isZero();
        assertThat(intake.settled).hasSize(10);
        assertThat(loop.isIdle()).isTrue();
    }

    @Test
    void whatCouldNotBeSettledAsideItSettlesByItselfBeforeItReadsOn() {
        backlog(300);
        answer(1, 75);
        turns(2);
        settler.refusing = true;
        settler.failNext(false);
        int reads = intake.demands.size();
        intake.onSettle = () -> assertThat(intake.demands).hasSize(reads);
        loop.turn();
        assertThat(intake.settled).hasSize(75);
        assertThat(told).hasSize(75);
        assertThat(publisher.sent).as("nothing twice").doesNotHaveDuplicates();
    }

    @Test
    void whatWasSettledAlthoughNobodyCouldTellIsToldOnce() {
        backlog(300);
        answer(1, 75);
        turns(2);
        settler.failNext(true);
        loop.turn();
        assertThat(intake.settled).hasSize(75);
        assertThat(told).hasSize(75);
        assertThat(intake.taken()).hasSize(sent().size() - 75);
    }

    @Test
    void noMoreIsPutAsideThanFitsIntoTheWindow() {
        backlog(1_000);
        for (long row = 1; row <= 150; row += 75) {
            answer(row, row + 74);
            turns(2);
        }
        assertThat(settler.offers()).as("75 of 100 rows: another 75 do not fit").isEqualTo(1);
        assertThat(intake.settled).hasSize(75);
        settler.settleNext();
        turns(2);
        assertThat(intake.settled).hasSize(150);
    }

    @Test
    void itIsNotIdleBeforeAllIsSettled() {
        backlog(300);
        answer(1, 75);
        turns(2);
        loop.taking(false);
        answer(76, 150);
        turnThatSettles();
        assertThat(settler.offers()).as("a loop that ends settles by itself").isEqualTo(1);
        assertThat(intake.settled).hasSize(75);
        assertThat(loop.isIdle()).isFalse();
        settler.settleNext();
        loop.turn();
        assertThat(loop.isIdle()).isTrue();
        assertThat(intake.taken()).isEmpty();
        assertThat(told).hasSize(150);
    }

    private void backlog(int events) {
        for (int i = 0; i < events; i++) {
            intake.append("s", "k" + i);
        }
        loop.turn();
    }

    private void answer(long first, long last) {
        LongStream.rangeClosed(first, last).forEach(this::acknowledge);
    }
}
