// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class TimeOrderedIdTest {
    private static final int THREADS = 4;
    private static final int EACH = 25_000;

    @Test
    void everyIdIsAUuidOfVersion7() {
        for (int i = 0; i < 1_000; i++) {
            UUID id = TimeOrderedId.next();
            assertThat(id.version()).isEqualTo(7);
            assertThat(id.variant()).isEqualTo(2);
        }
    }

    @Test
    void itBeginsWithTheTimeInMilliseconds() {
        long before = System.currentTimeMillis();
        UUID id = TimeOrderedId.next();
        // Ids that other tests drew in a burst may have run ahead of the clock by a few milliseconds.
        assertThat(id.getMostSignificantBits() >>> 16).isBetween(before, System.currentTimeMillis() + 1_000);
    }

    @Test
    void idsOfSeveralThreadsRiseInEachAndAreAllDifferent() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            CountDownLatch start = new CountDownLatch(THREADS);
            List<Future<List<UUID>>> drawn = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                drawn.add(threads.submit(() -> {
                    start.countDown();
                    start.await();
                    List<UUID> ids = new ArrayList<>();
                    for (int i = 0; i < EACH; i++) {
                        ids.add(TimeOrderedId.next());
                    }
                    return ids;
                }));
            }
            Set<Long> places = new HashSet<>();
            for (Future<List<UUID>> future : drawn) {
                long last = 0;
                for (UUID id : future.get()) {
                    assertThat(id.getMostSignificantBits()).isGreaterThan(last);
                    last = id.getMostSignificantBits();
                    places.add(last);
                }
            }
            // Not only the random parts differ: no two ids share a place in time, so their order is strict.
            assertThat(places).hasSize(THREADS * EACH);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void theRandomPartDiffersFromIdToId() {
        Set<Long> parts = new HashSet<>();
        for (int i = 0; i < 1_000; i++) {
            parts.add(TimeOrderedId.next().getLeastSignificantBits());
        }
        assertThat(parts).hasSize(1_000);
    }
}
