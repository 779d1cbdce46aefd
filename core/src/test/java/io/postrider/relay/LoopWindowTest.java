// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LoopWindowTest extends LoopRig {
    @Test
    void oneStreamNeverHasMoreThanItsWindowAndASlowOneDoesNotStopAnother() {
        loop = loop(new Window(10, 1 << 20));
        for (int i = 0; i < 100; i++) {
            intake.append("slow", "k" + i);
        }
        turns(20);
        assertThat(intake.taken()).hasSize(8);
        for (int i = 0; i < 30; i++) {
            long id = intake.append("fast", "k" + i);
            loop.ring();
            now += 10 * MS;
            turns(2);
            assertThat(sent()).endsWith(id);
            acknowledge(id);
        }
        now += 5 * MS;
        turns(2);
        assertThat(intake.settled).hasSize(30);
        assertThat(intake.taken()).hasSize(8);
    }

    @Test
    void whileAStreamIsFullTheOthersAreLookedAtLessAndLessOftenUntilTheyHaveSomething() {
        loop = loop(new Window(10, 1 << 20));
        for (int i = 0; i < 100; i++) {
            intake.append("slow", "k" + i);
        }
        assertThat(looksAtOthersWithin(3_000))
                .as("at 100, 300, 700 ms, then every 400")
                .isBetween(7, 10);
        intake.append("other", "k");
        looksAtOthersWithin(400);
        assertThat(sent()).endsWith(101L);
        assertThat(looksAtOthersWithin(100)).as("soon again").isEqualTo(1);
    }

    private int looksAtOthersWithin(int millis) {
        int before = intake.calls;
        for (int i = 0; i < millis / 10; i++) {
            turns(2);
            now += 10 * MS;
        }
        return intake.calls - before;
    }

    @Test
    void aFullStreamIsReadOnAsSoonAsThereIsRoom() {
        loop = loop(new Window(10, 1 << 20));
        for (int i = 0; i < 100; i++) {
            intake.append("s", "k" + i);
        }
        turns(20);
        for (long id = 1; id <= 5; id++) {
            acknowledge(id);
        }
        loop.turn();
        assertThat(intake.taken()).as("three of eight are too many to read on").hasSize(3);
        acknowledge(6);
        acknowledge(7);
        loop.turn();
        assertThat(intake.taken()).hasSize(9);
        assertThat(sent()).hasSize(16);
    }

    @Test
    void whereOrderDoesNotMatterEachFreePlaceIsReadForUnlessEnoughIsHereThatWaits() {
        intake.keepsOrder = false;
        loop = loop(new Window(16, 1 << 20), publisher, judge(), new Slots(2));
        for (int i = 0; i < 100; i++) {
            intake.append("s", "k" + i);
        }
        turns(5);
        assertThat(intake.taken()).hasSize(16);
        assertThat(sent()).hasSize(2);
        int reads = intake.demands.size();
        for (long id = 1; id <= 7; id++) {
            acknowledgeAndSettle(id);
        }
        assertThat(intake.settled).hasSize(7);
        assertThat(intake.demands).hasSize(reads);
        acknowledgeAndSettle(8);
        assertThat(intake.taken()).hasSize(16);
        assertThat(intake.demands).hasSize(reads + 1);
    }

    @Test
    void whereOrderDoesNotMatterAndAllIsUnderWayASinglePlaceIsWorthARead() {
        intake.keepsOrder = false;
        loop = loop(new Window(16, 1 << 20));
        for (int i = 0; i < 100; i++) {
            intake.append("s", "k" + i);
        }
        turns(5);
        acknowledgeAndSettle(1);
        assertThat(sent()).hasSize(17);
    }

    @Test
    void allStreamsTogetherHaveFourTimesTheWindow() {
        loop = loop(new Window(10, 1 << 20));
        for (int i = 0; i < 300; i++) {
            intake.append("s" + i % 10, "k" + i);
        }
        turns(50);
        assertThat(intake.taken()).hasSizeBetween(24, 40);
    }

    @Test
    void bytesAreLimitedToo() {
        loop = loop(new Window(1_000, 10_000));
        for (int i = 0; i < 100; i++) {
            intake.append(
                    Deliveries.event("s", "k" + i).payload(new byte[1_000]).build());
        }
        turns(20);
        assertThat(intake.taken()).hasSizeBetween(5, 12);
        int before = intake.taken().size();
        turns(20);
        assertThat(intake.taken()).hasSize(before);
    }

    @Test
    void anEventLargerThanTheWindowStillGoes() {
        loop = loop(new Window(10, 100));
        intake.append(Deliveries.event("s", "a").payload(new byte[100_000]).build());
        intake.append(Deliveries.event("s", "b").payload(new byte[100_000]).build());
        turns(5);
        assertThat(sent()).containsExactly(1L);
        acknowledge(1);
        turns(5);
        assertThat(sent()).containsExactly(1L, 2L);
    }

    @Test
    void lateAnswersDoNotWidenTheWindow() {
        loop = loop(new Window(10, 1 << 20));
        for (int i = 0; i < 100; i++) {
            intake.append("s", "k" + i);
        }
        turns(20);
        int first = intake.taken().size();
        now += ANSWER_TIMEOUT.toNanos() + 1_100 * MS;
        loop.turn();
        assertThat(intake.taken()).isEmpty();
        publisher.unanswered().forEach(publisher::acknowledge);
        for (int i = 0; i < 50; i++) {
            loop.turn();
            now += 50 * MS;
        }
        assertThat(intake.settled).hasSize(first);
        assertThat(intake.taken()).hasSize(first);
    }

    private void acknowledgeAndSettle(long row) {
        acknowledge(row);
        loop.turn();
        now += 6 * MS;
        turns(2);
    }
}
