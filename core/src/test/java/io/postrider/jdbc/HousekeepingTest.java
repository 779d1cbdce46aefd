// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HousekeepingTest {
    private final Semaphore ran = new Semaphore(0);
    private long now = Long.MAX_VALUE - 1;

    @Test
    void anOwnerLooksFiveSecondsAfterItsStartAndThenEveryFifteen() throws InterruptedException {
        Housekeeping housekeeping = new Housekeeping(ran::release, () -> now);
        housekeeping.whenOwner();
        pass(Duration.ofMillis(4_999), housekeeping);
        assertThat(ran.tryAcquire(100, TimeUnit.MILLISECONDS)).isFalse();
        pass(Duration.ofMillis(1), housekeeping);
        assertThat(ran.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        pass(Duration.ofMillis(14_999), housekeeping);
        assertThat(ran.tryAcquire(100, TimeUnit.MILLISECONDS)).isFalse();
    }

    private void pass(Duration time, Housekeeping housekeeping) {
        now += time.toNanos();
        housekeeping.whenOwner();
    }
}
