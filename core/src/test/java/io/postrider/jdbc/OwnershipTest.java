// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
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
    void allAreOwnedOnlyIfNoneIsMissingAndNoneIsAboutToBeGivenUp() {
        own(IntStream.range(1, Ownership.SHARDS).boxed().toArray(Integer[]::new));
        assertThat(ownership.ownsAll()).isFalse();
        own(0);
        assertThat(ownership.ownsAll()).isTrue();
        ownership.leave(List.of(17));
        assertThat(ownership.ownsAll()).isFalse();
        ownership.stay(List.of(17));
        assertThat(ownership.ownsAll()).isTrue();
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

    /** A loop takes and sends in the very moment before the shard is withdrawn: one of them must see the other. */
    @Test
    void aSendThatSlipsInJustBeforeTheWithdrawalPreventsIt() {
        List<Runnable> before = new ArrayList<>();
        Ownership watched = new Ownership(Ownership.SHARDS, new ConcurrentHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            public @Nullable Long remove(Object shard) {
                before.forEach(Runnable::run);
                return super.remove(shard);
            }
        });
        watched.renewed(1_000);
        watched.add(Map.of(0, 1L));
        watched.leave(List.of(0));
        AtomicBoolean sent = new AtomicBoolean();
        before.add(() -> {
            watched.took(0);
            sent.set(watched.mayStart(0, 1, 0));
        });

        assertThat(watched.withdrawIdle()).isEmpty();
        assertThat(sent).as("it was still allowed to").isTrue();
        assertThat(watched.owns(0)).isTrue();
        assertThat(watched.leaving()).containsExactly(0);
    }

    /** One thread takes and sends as a loop does, the other gives up what it can and gets it back, as fast as they can. */
    @Test
    @Timeout(30)
    void noSendIsUnderWayOrStartsOnceAShardWasWithdrawn() throws Exception {
        ownership.renewed(Long.MAX_VALUE);
        AtomicIntegerArray sending = new AtomicIntegerArray(Ownership.SHARDS);
        AtomicBoolean end = new AtomicBoolean();
        AtomicLong sends = new AtomicLong();
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try {
            Future<?> loop = threads.submit(() -> takeAndSend(sending, end, sends));
            List<Integer> all = IntStream.range(0, Ownership.SHARDS).boxed().toList();
            long epoch = 1;
            long withdrawals = 0;
            ownership.add(epochs(all, epoch));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
            while (System.nanoTime() - deadline < 0 || withdrawals == 0 || sends.get() == 0) {
                ownership.leave(all);
                Set<Integer> withdrawn = ownership.withdrawIdle().keySet();
                for (int shard : withdrawn) {
                    if (sending.get(shard) != 0) {
                        throw new AssertionError("Shard " + shard + " is withdrawn while a send is under way");
                    }
                }
                withdrawals += withdrawn.size();
                ownership.add(epochs(withdrawn, ++epoch));
                ownership.stay(all);
                spin(500);
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

    /** Sends a part of what it may, and has the answers when it looks next. */
    private void takeAndSend(AtomicIntegerArray sending, AtomicBoolean end, AtomicLong sends) {
        Random random = new Random(1);
        List<Integer> underWay = new ArrayList<>();
        while (!end.get()) {
            for (int shard : underWay) {
                sending.set(shard, 0);
                ownership.gave(shard);
            }
            underWay.clear();
            ownership.readable().forEach((shard, epoch) -> {
                if (random.nextInt(4) > 0) {
                    return;
                }
                ownership.took(shard);
                if (ownership.mayStart(shard, epoch, 0)) {
                    sending.set(shard, 1);
                    underWay.add(shard);
                } else {
                    ownership.gave(shard);
                }
            });
            sends.addAndGet(underWay.size());
        }
    }

    private static Map<Integer, Long> epochs(Collection<Integer> shards, long epoch) {
        return shards.stream().collect(Collectors.toMap(shard -> shard, shard -> epoch));
    }

    private static void spin(int times) {
        for (int i = 0; i < times; i++) {
            Thread.onSpinWait();
        }
    }

    private void own(Integer... shards) {
        ownership.renewed(1_000);
        for (int shard : shards) {
            ownership.add(Map.of(shard, 1L));
        }
    }
}
