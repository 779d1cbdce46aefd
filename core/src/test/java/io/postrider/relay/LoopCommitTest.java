// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The loop that sends what this process has just committed, beside others that search. */
class LoopCommitTest extends LoopRig {
    private final FakeCommits commits = new FakeCommits(() -> now);

    @BeforeEach
    void sendCommits() {
        Told teller = new Told("r", new RelayListener() {});
        Window window = new Window(100, 1 << 20);
        Shared shared = new Shared(window, judge(), gates, teller, ANSWER_TIMEOUT, Slots.unlimited(), () -> true);
        loop = new Loop(
                commits,
                publisher,
                shared,
                new Pace("r", () -> now, HALF, Duration.ofMillis(50)),
                wakes::incrementAndGet);
    }

    @Test
    void settlesAreCollectedSinceItsOwnEventsWaitForNone() {
        commits.append("s", "a");
        loop.turn();
        publisher.acknowledge(publisher.unanswered().get(0));
        loop.turn();
        assertThat(commits.settled).isEmpty();
        now += 5 * MS;
        loop.turn();
        assertThat(commits.settled).containsExactly(1L);
    }

    @Test
    void whileAnAnswerIsAwaitedLeasesAreKeptThoughNothingMoreIsTaken() {
        commits.append("s", "a");
        loop.turn();
        loop.taking(false);
        for (int i = 0; i < 3; i++) {
            int before = commits.leasesKept;
            assertThat(loop.turn()).isEqualTo(50 * MS);
            assertThat(commits.leasesKept).isEqualTo(before + 1);
            now += 50 * MS;
        }
        publisher.acknowledge(publisher.unanswered().get(0));
        loop.turn();
        assertThat(loop.isIdle()).isTrue();
        assertThat(loop.turn()).as("nothing is leased").isGreaterThan(50 * MS);
    }

    @Test
    void whatIsGivenBackAtAStopIsToldToThoseWhoMaySendIt() {
        commits.append("s", "a");
        commits.append("s", "a");
        loop.turn();
        loop.taking(false);
        loop.turn();
        assertThat(commits.toldOf).isEqualTo(1);
    }

    @Test
    void whatWasJustCommittedIsSentBeforeASettleThatIsDue() {
        commits.append("s", "a");
        loop.turn();
        publisher.acknowledge(publisher.unanswered().get(0));
        loop.turn();
        now += 5 * MS;
        commits.append("s", "a");
        loop.ring();
        commits.onSettle = () -> assertThat(publisher.sent).hasSize(2);
        loop.turn();
        assertThat(commits.settled).containsExactly(1L);
    }
}
