// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Counts failed attempts to sign in, by the address that they come from: after {@value #MOST} within a minute nobody at that
 * address is asked who they are until the minute is over. Thread-safe.
 */
final class Attempts {
    static final int MOST = 10;
    private static final long MINUTE = Duration.ofMinutes(1).toNanos();
    /** So many addresses are remembered; the one that was first seen longest ago is forgotten for the next. */
    private static final int ADDRESSES = 10_000;

    private record Count(int failed, long since) {}

    private final LongSupplier ticker;
    private final Map<String, Count> counts = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Count> eldest) {
            return size() > ADDRESSES;
        }
    };

    Attempts(LongSupplier ticker) {
        this.ticker = ticker;
    }

    /** @throws Problem if too many have failed from there */
    synchronized void check(String from) {
        Count count = current(from);
        if (count.failed() >= MOST) {
            long left = MINUTE - (ticker.getAsLong() - count.since());
            throw Problem.tooMany(Math.max(1, Math.round(Math.ceil(left / 1e9))));
        }
    }

    synchronized void failed(String from) {
        // An address that is not known would be everybody's.
        if (!from.isEmpty()) {
            Count count = current(from);
            counts.remove(from);
            counts.put(from, new Count(count.failed() + 1, count.since()));
        }
    }

    private Count current(String from) {
        long now = ticker.getAsLong();
        Count count = counts.get(from);
        return count == null || now - count.since() >= MINUTE ? new Count(0, now) : count;
    }
}
