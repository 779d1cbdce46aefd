// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * What this process has appended and left to the loops of its own relay, until they have published it at the first
 * attempt. Events that are rolled back, or that another relay publishes after all, are forgotten when there have been enough
 * others. Thread-safe.
 */
final class OwnEvents {
    private static final int MOST = 10_000;

    private final LongAdder published = new LongAdder();
    private volatile Set<UUID> newer = ConcurrentHashMap.newKeySet();
    private volatile Set<UUID> older = Set.of();

    /** Before its commit, so that nobody can have published it yet. */
    void appended(UUID id) {
        if (newer.size() >= MOST) {
            forgetSome();
        }
        newer.add(id);
    }

    private synchronized void forgetSome() {
        if (newer.size() >= MOST) {
            older = newer;
            newer = ConcurrentHashMap.newKeySet();
        }
    }

    void published(UUID id) {
        if (forget(id)) {
            published.increment();
        }
    }

    /** When it is published after all, it is not at its commit. */
    void failed(UUID id) {
        forget(id);
    }

    /** Where there is nothing, not even the id is looked at. */
    private boolean forget(UUID id) {
        return (!newer.isEmpty() && newer.remove(id)) || (!older.isEmpty() && older.remove(id));
    }

    /** How many of them were published. */
    long publishedCount() {
        return published.sum();
    }
}
