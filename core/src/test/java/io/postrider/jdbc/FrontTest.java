// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FrontTest {
    private static final long SERVER = 4711;
    private static final long NONE = Long.MAX_VALUE;

    private final Front front = new Front();
    /** What those who are asked who is writing say of the ids. */
    private long drawn;

    private long now = -5_000_000_000L;

    @Test
    void asksAtOnceAndThenOnceASecond() {
        assertThat(front.asks(now)).isTrue();
        hear();
        assertThat(front.asks(now)).isFalse();
        pass(Duration.ofMillis(999));
        assertThat(front.asks(now)).isFalse();
        pass(Duration.ofMillis(1));
        assertThat(front.asks(now)).isTrue();
    }

    @Test
    void isTheBeginningUntilItIsSure() {
        hear("1/1");
        look(10, 20);
        assertThat(from()).isZero();
        hear("2/1");
        look(15, 20);
        assertThat(from()).as("20 was seen before 2/1 was").isZero();
        hear("3/1");
        look(18, 30);
        assertThat(from()).isEqualTo(18);
    }

    @Test
    void neverGoesBeyondWhatItIsSureOf() {
        hear();
        look(10, 20);
        hear();
        look(30, 40);
        hear();
        look(NONE, 0);
        assertThat(from()).as("20 is sure now, 40 only the next time").isEqualTo(21);
        hear();
        look(NONE, 0);
        assertThat(from()).isEqualTo(41);
    }

    @Test
    void waitsForAllThatWereWritingWhenItWasSeen() {
        hear("1/1", "2/1");
        look(10, 20);
        hear("3/1", "2/2");
        look(11, 20);
        hear("3/1", "4/1");
        hear("3/1");
        look(12, 50);
        assertThat(from()).isZero();
        hear("4/2", "3/2");
        look(13, 50);
        assertThat(from()).isEqualTo(13);
    }

    @Test
    void isForgottenNowAndThen() {
        sureOf(20);
        look(15, 20);
        pass(Duration.ofSeconds(29));
        look(16, 20);
        assertThat(from()).isEqualTo(16);
        pass(Duration.ofSeconds(1));
        assertThat(from()).isZero();
        look(17, 20);
        assertThat(from()).isEqualTo(17);
    }

    @Test
    void whatIsFoundBelowItShowsThatNothingIsSure() {
        sureOf(20);
        look(15, 20);
        pass(Duration.ofSeconds(30));
        look(5, 20);
        assertThat(from()).isZero();
        hear();
        look(NONE, 0);
        assertThat(from()).as("sure of 20 no more").isZero();
    }

    @Test
    void holdsForOneRunOfOneServer() {
        sureOf(20);
        look(15, 20);
        front.hear(new Front.Writing(SERVER + 1, Set.of(), 0), now);
        assertThat(front.server()).isEqualTo(SERVER + 1);
        look(NONE, 0);
        assertThat(from()).isZero();
        front.hear(new Front.Writing(SERVER + 1, Set.of(), 0), now);
        look(NONE, 0);
        assertThat(from()).as("what was seen on the other counts no more").isZero();
    }

    @Test
    void isSureOfAllThatHadBeenDrawnOnceAllWhoWroteThenHaveEnded() {
        drawn = 50;
        hear("a", "b");
        assertThat(front.sure()).isZero();
        drawn = 70;
        hear("b", "c");
        assertThat(front.sure()).as("b may have drawn a smaller one").isZero();
        hear("c");
        assertThat(front.sure()).isEqualTo(50);
        hear("d");
        assertThat(front.sure()).isEqualTo(70);
    }

    @Test
    void isSureOfNothingWhileATransactionIsPreparedWhoseNameBeforeIsNotKnown() {
        drawn = 50;
        hear("3/7");
        hear("-1/741");
        assertThat(front.sure()).isZero();
        hear();
        assertThat(front.sure()).isEqualTo(50);
    }

    private void sureOf(long id) {
        hear();
        look(1, id);
        hear();
        hear();
    }

    private void hear(String... transactions) {
        front.hear(new Front.Writing(SERVER, Set.of(transactions), drawn), now);
    }

    private void look(long least, long greatest) {
        front.id(now);
        front.looked(least, greatest, now);
    }

    private long from() {
        return front.id(now);
    }

    private void pass(Duration time) {
        now += time.toNanos();
    }
}
