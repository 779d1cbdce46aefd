// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When commits are leased, and who is woken for those that are not. */
class CommitDeskTest extends LoopRig {
    private static final OutboxEvent EVENT = OutboxEvent.of("s", "T").build();
    private static final OptionalLong NOT_LEASED = OptionalLong.empty();

    private final Told teller = new Told("r", new RelayListener() {});
    private final FakeCommits commits = new FakeCommits(() -> now);
    private CommitDesk desk = desk(List.of(loop));

    @BeforeEach
    void ownAll() {
        commits.lessee = OptionalLong.of(7);
        commits.ownsAll = true;
    }

    @Test
    void theFirstIsLeasedAndThenNoneWhereThisRelayReadsAll() {
        assertThat(desk.leases()).isTrue();
        assertThat(desk.lessee(EVENT)).hasValue(7);
        desk.handedOver(List.of());
        assertThat(desk.leases()).isFalse();
        assertThat(desk.lessee(EVENT)).isEqualTo(NOT_LEASED);
        commits.ownsAll = false;
        assertThat(desk.leases()).isTrue();
        assertThat(desk.lessee(EVENT)).hasValue(7);
    }

    @Test
    void aCommitThatWasNotLeasedIsReadInTheNextTurn() {
        desk.handedOver(List.of());
        loop.turn();
        now += 1;
        appendAll("s", "a");
        desk.lessee(intake.rows().get(0).event);
        loop.turn();
        assertThat(sent()).as("nobody called").isEmpty();
        int before = wakes.get();
        desk.rung();
        assertThat(wakes.get()).isEqualTo(before + 1);
        loop.turn();
        assertThat(sent()).containsExactly(1L);
    }

    @Test
    void severalLoopsAreNotAllWokenForEachCommit() {
        desk = desk(List.of(loop, loop(new Window(100, 1 << 20))));
        desk.handedOver(List.of());
        assertThat(desk.lessee(EVENT)).hasValue(7);
    }

    @Test
    void whileItsLoopIsBehindEventsAreLeased() {
        desk.handedOver(List.of());
        intake.putsOff = true;
        loop.ring();
        loop.turn();
        assertThat(desk.leases()).isFalse();
        now += 500 * MS;
        assertThat(desk.leases()).isTrue();
        intake.putsOff = false;
        loop.ring();
        loop.turn();
        assertThat(desk.leases()).isFalse();
    }

    private CommitDesk desk(List<Loop> searching) {
        Loop sending = new Loop(
                commits,
                publisher,
                new Shared(new Window(100, 1 << 20), judge(), gates, teller, ANSWER_TIMEOUT),
                new Pace("r", () -> now, HALF, Duration.ofMillis(50)),
                () -> {});
        return new CommitDesk(commits, gates, teller, new CommitDesk.Loops(searching, sending), () -> now);
    }
}
