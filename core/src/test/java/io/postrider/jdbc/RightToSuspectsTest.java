// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RightToSuspectsTest {
    private static final String ONE = "one";
    private static final String TWO = "two";

    private final AtomicLong now = new AtomicLong(1);
    private final RightToSuspects right = new RightToSuspects(now::get);

    @Test
    void oneLoopHasItUntilItGivesItUp() {
        assertThat(right.take(ONE)).isTrue();
        assertThat(right.take(ONE)).as("it has it").isTrue();
        assertThat(right.take(TWO)).isFalse();
        right.giveUp(TWO);
        assertThat(right.take(TWO)).as("only its holder can give it up").isFalse();
        right.giveUp(ONE);
        assertThat(right.take(TWO)).isTrue();
    }

    @Test
    void whoHadItLeavesItToWhoWasRefused() {
        right.take(ONE);
        right.take(TWO);
        right.giveUp(ONE);
        assertThat(right.take(ONE)).isFalse();
        assertThat(right.take(ONE)).as("however often it asks").isFalse();
        assertThat(right.take(TWO)).isTrue();
        right.giveUp(TWO);
        assertThat(right.take(TWO)).as("nobody else was refused since").isTrue();
    }

    @Test
    void whoWasRefusedAndIsGoneKeepsNobodyFromIt() {
        right.take(ONE);
        right.take(TWO);
        right.giveUp(ONE);
        now.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(right.take(ONE)).isTrue();
    }

    @Test
    void whoWasRefusedIsRememberedWhileItsHolderAsksAgain() {
        right.take(ONE);
        right.take(TWO);
        right.take(ONE);
        right.giveUp(ONE);
        assertThat(right.take(ONE)).isFalse();
        assertThat(right.take(TWO)).isTrue();
    }
}
