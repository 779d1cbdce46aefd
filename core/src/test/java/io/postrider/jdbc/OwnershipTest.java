// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class OwnershipTest {
    private final Ownership ownership = new Ownership();

    @Test
    void aSendMayStartWhileTheShardIsOwnedInThisEpochAndTheLeaseLasts() {
        ownership.joined(7);
        ownership.add(Map.of(3, 10L));
        assertThat(ownership.mayStart(3, 10, 0)).as("before the first renewal").isFalse();
        ownership.renewed(1_000);
        assertThat(ownership.mayStart(3, 10, 999)).isTrue();
        assertThat(ownership.mayStart(3, 10, 1_000)).isFalse();
        assertThat(ownership.mayStart(3, 9, 0)).isFalse();
        assertThat(ownership.mayStart(4, 10, 0)).isFalse();
        assertThat(ownership.member()).isEqualTo(7);
    }

    @Test
    void theLeaseIsComparedAsTheTickerMayOverflow() {
        ownership.add(Map.of(3, 10L));
        ownership.renewed(Long.MIN_VALUE + 5);
        assertThat(ownership.mayStart(3, 10, Long.MAX_VALUE - 5)).isTrue();
        assertThat(ownership.mayStart(3, 10, Long.MIN_VALUE + 5)).isFalse();
    }

    @Test
    void aNewMemberOwnsNothingAndHasNoRight() {
        own(3);
        ownership.leave(List.of(3));
        ownership.joined(8);
        assertThat(ownership.size()).isZero();
        assertThat(ownership.leaving()).isEmpty();
        ownership.add(Map.of(3, 1L));
        assertThat(ownership.mayStart(3, 1, 0)).isFalse();
    }

    @Test
    void onlyWhatTheDatabaseConfirmsIsKept() {
        ownership.add(Map.of(1, 1L, 2, 2L, 3, 3L));
        ownership.leave(List.of(2));
        ownership.retain(Map.of(1, 1L, 3, 4L, 9, 9L));
        assertThat(ownership.all()).containsExactly(Map.entry(1, 1L));
        assertThat(ownership.leaving()).isEmpty();
        assertThat(ownership.owns(1)).isTrue();
        assertThat(ownership.owns(9)).isFalse();
    }

    @Test
    void losingAnOlderEpochChangesNothing() {
        ownership.add(Map.of(1, 5L));
        ownership.lost(1, 4);
        assertThat(ownership.owns(1)).isTrue();
        ownership.lost(1, 5);
        assertThat(ownership.owns(1)).isFalse();
    }

    @Test
    void whatIsLeavingIsNotReadButMayStillBeSent() {
        own(1, 2);
        ownership.leave(List.of(2));
        assertThat(ownership.readable()).containsOnlyKeys(1);
        assertThat(ownership.all()).containsOnlyKeys(1, 2);
        assertThat(ownership.mayStart(2, 1, 0)).isTrue();
        ownership.stay(List.of(2));
        assertThat(ownership.readable()).containsOnlyKeys(1, 2);
    }

    @Test
    void onlyLeavingShardsOfWhichNothingIsTakenAreWithdrawn() {
        own(1, 2, 3);
        ownership.took(2);
        ownership.leave(List.of(1, 2));
        assertThat(ownership.withdrawIdle()).containsExactly(Map.entry(1, 1L));
        assertThat(ownership.mayStart(1, 1, 0)).isFalse();
        assertThat(ownership.mayStart(2, 1, 0)).isTrue();
        assertThat(ownership.leaving()).containsExactly(2);
        ownership.gave(2);
        assertThat(ownership.isIdle(2)).isTrue();
        assertThat(ownership.withdrawIdle()).containsExactly(Map.entry(2, 1L));
        assertThat(ownership.all()).containsOnlyKeys(3);
    }

    @Test
    void whatWasLostWhileLeavingIsForgotten() {
        own(1);
        ownership.leave(List.of(1));
        ownership.lost(1, 1);
        assertThat(ownership.withdrawIdle()).isEmpty();
        assertThat(ownership.leaving()).isEmpty();
    }

    /** One thread takes and sends as a loop does, the other gives the shard up and gets it back, as fast as they can. */
    @Test
    @Timeout(30)
    void noSendIsUnderWayOrStartsOnceAShardWasWithdrawn() throws Exception {
        ownership.renewed(Long.MAX_VALUE);
        ownership.add(Map.of(0, 1L));
        AtomicBoolean sending = new AtomicBoolean();
        AtomicBoolean end = new AtomicBoolean();
        AtomicInteger sends = new AtomicInteger();
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try {
            Future<?> loop = threads.submit(() -> {
                while (!end.get()) {
                    Long epoch = ownership.readable().get(0);
                    if (epoch == null) {
                        continue;
                    }
                    ownership.took(0);
                    if (ownership.mayStart(0, epoch, 0)) {
                        sending.set(true);
                        sends.incrementAndGet();
                        sending.set(false);
                    }
                    ownership.gave(0);
                }
            });
            long epoch = 1;
            int withdrawals = 0;
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
            while ((withdrawals < 20_000 || sends.get() < 1_000) && System.nanoTime() - deadline < 0) {
                ownership.leave(List.of(0));
                if (ownership.withdrawIdle().containsKey(0)) {
                    withdrawals++;
                    for (int i = 0; i < 5; i++) {
                        assertThat(sending.get())
                                .as("withdrawal %s", withdrawals)
                                .isFalse();
                    }
                    ownership.add(Map.of(0, ++epoch));
                }
                ownership.stay(List.of(0));
            }
            end.set(true);
            loop.get();
            assertThat(withdrawals).isPositive();
            assertThat(sends).hasPositiveValue();
        } finally {
            end.set(true);
            threads.shutdownNow();
        }
    }

    private void own(Integer... shards) {
        ownership.renewed(1_000);
        for (int shard : shards) {
            ownership.add(Map.of(shard, 1L));
        }
    }
}
