// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Counts failed attempts to sign in, by the address that they come from: after {@value #MOST} within a minute nobody at that
 * address is asked who they are until the minute is over. Who has signed in from there before goes on, since behind a proxy
 * all have one address; but after {@value #MOST_AT_ALL} attempts they wait too, or passwords could be tried out by whether
 * they are refused. Thread-safe.
 */
final class Attempts {
    static final int MOST = 10;
    static final int MOST_AT_ALL = 1000;
    private static final long MINUTE = Duration.ofMinutes(1).toNanos();
    /** So many addresses are remembered; the one that failed longest ago is forgotten for the next. */
    static final int ADDRESSES = 10_000;
    /** So many that have signed in are remembered, the same way. */
    static final int SUCCEEDED = 1000;

    private record Count(int failed, long since) {}

    private final LongSupplier ticker;
    private final Map<String, Count> counts = new Bounded<>(ADDRESSES);
    /** Digests of addresses and what was sent from there. */
    private final Set<String> succeeded = Collections.newSetFromMap(new Bounded<>(SUCCEEDED));

    private static final class Bounded<V> extends LinkedHashMap<String, V> {
        private static final long serialVersionUID = 1;
        private final int most;

        Bounded(int most) {
            this.most = most;
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
            return size() > most;
        }
    }

    Attempts(LongSupplier ticker) {
        this.ticker = ticker;
    }

    /** @throws Problem if too many have failed from there */
    synchronized void check(String from, String secret) {
        Count count = current(from);
        if (count.failed() >= (succeeded.contains(digest(from, secret)) ? MOST_AT_ALL : MOST)) {
            count(from, count);
            long left = MINUTE - (ticker.getAsLong() - count.since());
            throw Problem.tooMany(Math.max(1, Math.round(Math.ceil(left / 1e9))));
        }
    }

    synchronized void failed(String from, String secret) {
        succeeded.remove(digest(from, secret));
        // An address that is not known would be everybody's.
        if (!from.isEmpty()) {
            count(from, current(from));
        }
    }

    synchronized void succeeded(String from, String secret) {
        String digest = digest(from, secret);
        succeeded.remove(digest);
        succeeded.add(digest);
    }

    private void count(String from, Count before) {
        counts.remove(from);
        counts.put(from, new Count(Math.min(MOST_AT_ALL, before.failed() + 1), before.since()));
    }

    private Count current(String from) {
        long now = ticker.getAsLong();
        Count count = counts.get(from);
        return count == null || now - count.since() >= MINUTE ? new Count(0, now) : count;
    }

    private static String digest(String from, String secret) {
        return HexFormat.of().formatHex(Secret.sha256((from + "\n" + secret).getBytes(StandardCharsets.UTF_8)));
    }
}
