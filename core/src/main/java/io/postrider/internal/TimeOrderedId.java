// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * UUIDs of version 7 that never go back within this process, whatever its clock does: 48 bits of milliseconds, 12 bits
 * that count within the millisecond, 62 random bits. Thread-safe.
 */
public final class TimeOrderedId {
    private static final int COUNTER_BITS = 12;
    private static final AtomicLong LAST = new AtomicLong();

    private TimeOrderedId() {}

    public static UUID next() {
        long now = System.currentTimeMillis() << COUNTER_BITS;
        long tick = LAST.updateAndGet(last -> Math.max(last + 1, now));
        return at(tick, ThreadLocalRandom.current().nextLong());
    }

    private static UUID at(long tick, long random) {
        long millis = tick >>> COUNTER_BITS;
        long counter = tick & ((1L << COUNTER_BITS) - 1);
        long high = (millis << 16) | 0x7000L | counter;
        long low = (random & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
        return new UUID(high, low);
    }
}
