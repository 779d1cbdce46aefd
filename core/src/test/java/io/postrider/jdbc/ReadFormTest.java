// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReadFormTest {
    private static final long MS = 1_000_000;
    private static final Optional<ReadForm.Backlog> BACKLOG = Optional.of(new ReadForm.Backlog("s", 100));
    private final ReadForm form = new ReadForm(() -> 0);

    @Test
    void stepsAreTakenUntilOneCostFarMoreThanItBrought() {
        assertThat(form.looksAtAll(0)).isFalse();
        form.stepped(19 * MS, 0);
        assertThat(form.looksAtAll(0)).isFalse();
        form.stepped(100 * MS, 6_000);
        assertThat(form.looksAtAll(0)).as("many rows take their time").isFalse();
        form.stepped(100 * MS, 300);
        assertThat(form.looksAtAll(0)).isTrue();
    }

    @Test
    void aGlanceComesFirstUnlessItSawMoreOrThereIsMuchUnderWay() {
        assertThat(form.glances(0, 63)).isTrue();
        assertThat(form.glances(0, 64)).isFalse();
        form.sawMore(0);
        assertThat(form.glances(249 * MS, 0)).isFalse();
        assertThat(form.glances(250 * MS, 0)).isTrue();
        form.stepped(100 * MS, 0);
        assertThat(form.glances(250 * MS, 0)).as("steps are dear").isFalse();
    }

    @Test
    void theMoreOftenInARowItSawMoreTheLaterItComesAgain() {
        for (int i = 0; i < 20; i++) {
            form.sawMore(0);
        }
        assertThat(form.glances(15_999 * MS, 0)).isFalse();
        assertThat(form.glances(16_000 * MS, 0)).isTrue();
        form.glanced(MS, 1);
        form.sawMore(16_000 * MS);
        assertThat(form.glances(16_250 * MS, 0)).isTrue();
    }

    @Test
    void aBacklogIsSweptButForOneReadInASecond() {
        assertThat(form.sweep(0)).isEmpty();
        form.stepped(10 * MS, 1_000);
        form.sawBacklog(BACKLOG, 0);
        assertThat(form.sweep(0)).isPresent();
        form.swept(10 * MS, 1_000, true, 500 * MS);
        assertThat(form.sweep(999 * MS)).isPresent();
        assertThat(form.sweep(1_000 * MS)).as("others get their turn").isEmpty();
        form.sawBacklog(BACKLOG, 1_000 * MS);
        assertThat(form.sweep(1_000 * MS)).isPresent();
        form.sawBacklog(Optional.empty(), 1_000 * MS);
        assertThat(form.sweep(1_000 * MS)).isEmpty();
    }

    @Test
    void stepsGetATwentiethOfTheTimeAndATurnEveryFourSecondsAtLeast() {
        form.stepped(100 * MS, 1_000);
        form.sawBacklog(BACKLOG, 0);
        assertThat(form.sweep(1_899 * MS)).isPresent();
        assertThat(form.sweep(1_900 * MS)).isEmpty();
        form.stepped(1_000 * MS, 100_000);
        form.sawBacklog(BACKLOG, 0);
        assertThat(form.sweep(3_999 * MS)).isPresent();
        assertThat(form.sweep(4_000 * MS)).isEmpty();
    }

    @Test
    void soManyAreSweptThatEachMayBeALittleLargerThanTheLargest() {
        assertThat(new ReadForm.Backlog("s", 0).rows(query(50, 1_000_000))).isEqualTo(50);
        assertThat(new ReadForm.Backlog("s", 99).rows(query(50, 1_000))).isEqualTo(8);
        assertThat(new ReadForm.Backlog("s", 99).rows(query(50, 100_000))).isEqualTo(50);
        assertThat(new ReadForm.Backlog("s", 5_000).rows(query(50, 1_000))).isEqualTo(1);
        assertThat(new ReadForm.Backlog("s", 0).rows(query(50, Long.MAX_VALUE))).isEqualTo(50);
    }

    private static EventStore.Query query(int rows, long bytes) {
        return new EventStore.Query(Map.of(0, 1L), Set.of(), rows, rows, bytes, Set.of(), null, true);
    }

    @Test
    void aSweepThatBringsLittleOrCostsFarMoreThanStepsIsNotRepeatedAtOnce() {
        form.stepped(10 * MS, 1_000);
        form.sawBacklog(BACKLOG, 0);
        form.swept(MS, 1_000, false, 0);
        assertThat(form.sweep(999 * MS)).isEmpty();
        form.sawBacklog(BACKLOG, 1_000 * MS);
        assertThat(form.sweep(1_000 * MS)).isPresent();
        form.swept(20 * MS, 1_000, true, 1_000 * MS);
        assertThat(form.sweep(1_000 * MS)).as("twice as dear, as it may happen").isPresent();
        form.swept(21 * MS, 1_000, true, 1_000 * MS);
        assertThat(form.sweep(1_000 * MS)).isEmpty();
    }

    @Test
    void atTheEndOfABacklogAllRowsAreLookedAtForASecondIfTheyAreFew() {
        form.stepped(10 * MS, 1_000);
        form.sweptToTheEnd(0);
        assertThat(form.looksAtAll(0)).isTrue();
        form.looked(100 * MS, 1, true);
        assertThat(form.looksAtAll(999 * MS)).as("however dear it is").isTrue();
        assertThat(form.looksAtAll(1_000 * MS)).isFalse();
        form.sweptToTheEnd(1_000 * MS);
        form.looked(10 * MS, 0, true);
        assertThat(form.looksAtAll(2_000 * MS))
                .as("what it costs says nothing about steps")
                .isFalse();
        form.sweptToTheEnd(2_000 * MS);
        form.foundMany(2_000 * MS);
        assertThat(form.looksAtAll(2_000 * MS)).isFalse();
    }

    @Test
    void aSweepInVainIsNotRepeatedBeforeStepsHaveFoundABacklog() {
        form.stepped(100 * MS, 1_000);
        form.sawBacklog(BACKLOG, 0);
        form.swept(MS, 0, false, 0);
        assertThat(form.sweep(1_500 * MS)).isEmpty();
        form.sawBacklog(BACKLOG, 1_500 * MS);
        assertThat(form.sweep(1_500 * MS)).isPresent();
    }

    @Test
    void otherStreamsGetTheirTurnEverySecondHoweverOftenStepsAreTaken() {
        assertThat(form.isTurnOfOthers(999 * MS)).isFalse();
        form.sawBacklog(BACKLOG, 500 * MS);
        assertThat(form.isTurnOfOthers(1_000 * MS)).isTrue();
        form.sawNoOthers(1_000 * MS);
        assertThat(form.isTurnOfOthers(1_999 * MS)).isFalse();
        form.sawOthers(1_500 * MS);
        assertThat(form.isTurnOfOthers(2_499 * MS)).isFalse();
    }

    @Test
    void whatOtherReadsCostMeanwhileDoesNotCount() {
        form.stepped(10 * MS, 1_000);
        form.sawBacklog(BACKLOG, 0);
        form.stepped(10 * MS, 1);
        form.swept(21 * MS, 1_000, true, 0);
        assertThat(form.sweep(0)).isEmpty();
    }

    @Test
    void whereThereAreSeveralStreamsEachGetsItsTurnForAWhile() {
        form.stepped(10 * MS, 1_000);
        form.sawBacklog(BACKLOG, 0);
        form.sawOthers(0);
        form.sawBacklog(BACKLOG, 15_999 * MS);
        assertThat(form.sweep(15_999 * MS)).isEmpty();
        assertThat(form.sweep(16_000 * MS)).isPresent();
    }

    @Test
    void theMoreOftenInARowASweepWasInVainTheLaterItComesAgain() {
        for (int i = 0; i < 20; i++) {
            form.swept(MS, 0, false, 0);
        }
        form.sawBacklog(BACKLOG, 15_999 * MS);
        assertThat(form.sweep(15_999 * MS)).isEmpty();
        assertThat(form.sweep(16_000 * MS)).isPresent();
        form.stepped(MS, 1);
        form.sawBacklog(BACKLOG, 16_000 * MS);
        form.swept(MS, 1, true, 16_000 * MS);
        form.swept(MS, 0, false, 16_000 * MS);
        form.sawBacklog(BACKLOG, 17_000 * MS);
        assertThat(form.sweep(17_000 * MS)).isPresent();
    }

    @Test
    void aLookThatCostsNothingEndsIt() {
        form.stepped(100 * MS, 0);
        form.looked(10 * MS, 0, true);
        assertThat(form.looksAtAll(0)).isTrue();
        form.looked(4 * MS, 0, false);
        assertThat(form.looksAtAll(0)).as("it began later on").isTrue();
        form.looked(4 * MS, 0, true);
        assertThat(form.looksAtAll(0)).isFalse();
    }

    @Test
    void soDoesOneThatCostsMoreThanTheStepsDid() {
        form.stepped(100 * MS, 100);
        form.looked(60 * MS, 1, false);
        assertThat(form.looksAtAll(0)).as("it brought little, and took less").isTrue();
        form.looked(200 * MS, 1_000, false);
        assertThat(form.looksAtAll(0)).as("it took longer, and brought more").isTrue();
        form.looked(120 * MS, 100, false);
        assertThat(form.looksAtAll(0)).isFalse();
    }

    @Test
    void whereRowsAreManyStepsAreTakenForASecondHoweverDear() {
        form.stepped(100 * MS, 0);
        form.foundMany(5 * MS);
        form.stepped(100 * MS, 0);
        assertThat(form.looksAtAll(1_000 * MS)).isFalse();
        assertThat(form.looksAtAll(1_005 * MS)).isTrue();
        assertThat(form.looksAtAll(1_006 * MS)).isTrue();
    }
}
