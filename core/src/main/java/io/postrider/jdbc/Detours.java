// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxEvent;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Keys and streams whose last events could not be sent at their commit: for a while the next ones are left to the owners of
 * their shards from the beginning, since to lease them and give them back would be one write more for each. Thread-safe.
 */
final class Detours {
    private static final long OF_A_KEY = Duration.ofSeconds(2).toNanos();
    private static final long OF_A_STREAM = Duration.ofSeconds(30).toNanos();
    /** With more than these there is a backlog, and everything goes the ordinary way. */
    private static final int MOST = 10_000;

    /** @param key empty: all of the stream */
    private record Way(String stream, String key) {}

    private final LongSupplier ticker;
    private final Map<Way, Long> ends = new ConcurrentHashMap<>();

    Detours(LongSupplier ticker) {
        this.ticker = ticker;
    }

    /** Begins one for the events of this one's key. */
    void begin(OutboxEvent event) {
        event.key().ifPresent(key -> begin(new Way(event.stream(), key), OF_A_KEY));
    }

    /** Begins one for a whole stream. */
    void beginAll(String stream) {
        begin(new Way(stream, ""), OF_A_STREAM);
    }

    private void begin(Way way, long nanos) {
        ends.put(way, ticker.getAsLong() + nanos);
    }

    boolean isOn(OutboxEvent event) {
        if (ends.isEmpty()) {
            return false;
        }
        return ends.size() > MOST
                || ends.containsKey(new Way(event.stream(), ""))
                || ends.containsKey(new Way(event.stream(), event.key().orElse("")));
    }

    /** Forgets those that have ended; costs little if it is done often. */
    void end() {
        if (!ends.isEmpty()) {
            long now = ticker.getAsLong();
            ends.values().removeIf(end -> end - now <= 0);
        }
    }
}
