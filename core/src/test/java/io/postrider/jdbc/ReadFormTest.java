// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReadFormTest {
    private static final long MS = 1_000_000;
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
