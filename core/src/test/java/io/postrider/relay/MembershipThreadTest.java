// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class MembershipThreadTest {
    private static final MembershipThread.Checkpoint TURNING = System::nanoTime;
    private static final MembershipThread.Checkpoint STUCK =
            () -> System.nanoTime() - Duration.ofSeconds(16).toNanos();

    private final AtomicInteger ticks = new AtomicInteger();
    private final AtomicInteger leaves = new AtomicInteger();
    private final CountDownLatch rounds = new CountDownLatch(5);
    private volatile Runnable failure = () -> {};

    private final Membership membership = new Membership() {
        @Override
        public Intake intake(int loop) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Duration tickEvery() {
            rounds.countDown();
            return Duration.ofMillis(1);
        }

        @Override
        public void tick(Report report) {
            ticks.incrementAndGet();
            failure.run();
        }

        @Override
        public void wants(boolean share) {}

        @Override
        public void leave() {
            leaves.incrementAndGet();
            failure.run();
        }
    };

    @Test
    void itRenewsThePlaceWhileEveryLoopTurns() throws InterruptedException {
        run(TURNING, TURNING);
        assertThat(ticks).hasValueGreaterThanOrEqualTo(4);
    }

    @Test
    void itLetsThePlaceRunOutWhenOneLoopHasStopped() throws InterruptedException {
        run(TURNING, STUCK);
        assertThat(ticks).hasValue(0);
        assertThat(leaves).hasValue(1);
    }

    @Test
    void anOutageOfTheFeedDoesNotEndIt() throws InterruptedException {
        failure = () -> {
            throw new FeedException("away", new IllegalStateException());
        };
        run(TURNING);
        assertThat(ticks).hasValueGreaterThanOrEqualTo(4);
        assertThat(leaves).hasValue(1);
    }

    @Test
    void norDoesABug() throws InterruptedException {
        failure = () -> {
            throw new IllegalStateException("a bug");
        };
        run(TURNING);
        assertThat(ticks).hasValueGreaterThanOrEqualTo(4);
        assertThat(leaves).hasValue(1);
    }

    private void run(MembershipThread.Checkpoint... loops) throws InterruptedException {
        MembershipThread thread =
                new MembershipThread("r", membership, List.of(loops), () -> new Membership.Report(0, 0, Set.of()));
        thread.start();
        assertThat(rounds.await(20, TimeUnit.SECONDS)).isTrue();
        thread.leave();
        assertThat(thread.isAlive()).isFalse();
    }
}
