// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Which shards this relay owns, in which epoch, and until when it may act on it: written by the membership, read by the
 * loops. Thread-safe.
 *
 * <p>A shard is given up without a send slipping through: the membership withdraws it first and looks for taken rows
 * second, a loop notes its taken rows first and asks {@link #mayStart} second, so one of them sees the other.
 */
final class Ownership {
    static final int SHARDS = 256;

    private final int shards;
    private final ConcurrentMap<Integer, Long> epochs;
    private final Set<Integer> leaving = ConcurrentHashMap.newKeySet();
    private final AtomicIntegerArray taken = new AtomicIntegerArray(SHARDS);
    private final Suspects suspects = new Suspects();
    private volatile long member;
    private volatile long rightUntil = Long.MIN_VALUE;
    private volatile boolean hasRight;

    Ownership() {
        this(SHARDS);
    }

    /** @param shards how many there are in all */
    Ownership(int shards) {
        this(shards, new ConcurrentHashMap<>());
    }

    /** @param epochs where owned shards are noted; a test sees there in which order things happen */
    Ownership(int shards, ConcurrentMap<Integer, Long> epochs) {
        this.shards = shards;
        this.epochs = epochs;
    }

    /** A new member owns nothing. */
    void joined(long member) {
        epochs.clear();
        leaving.clear();
        this.member = member;
        hasRight = false;
    }

    long member() {
        return member;
    }

    /** The lease was renewed: sends may be started until this reading of the ticker. */
    void renewed(long rightUntil) {
        this.rightUntil = rightUntil;
        hasRight = true;
    }

    boolean mayStart(int shard, long epoch, long nanos) {
        Long owned = epochs.get(shard);
        return owned != null && owned == epoch && mayStart(nanos);
    }

    /** Whether anything may be started at all: if not, there is no use in reading. */
    boolean mayStart(long nanos) {
        return hasRight && nanos - rightUntil < 0;
    }

    void add(Map<Integer, Long> shards) {
        epochs.putAll(shards);
    }

    /** With those to be careful with noted first, so that no loop reads one of them as if it were not. */
    void add(ShardStore.Won won) {
        suspects.add(won);
        add(won.epochs());
    }

    Suspects suspects() {
        return suspects;
    }

    /** Keeps only what the database still says is owned. */
    void retain(Map<Integer, Long> owned) {
        epochs.entrySet().removeIf(entry -> !entry.getValue().equals(owned.get(entry.getKey())));
        leaving.retainAll(epochs.keySet());
    }

    /** Somebody else owns it. */
    void lost(int shard, long epoch) {
        epochs.remove(shard, epoch);
    }

    Map<Integer, Long> all() {
        return new TreeMap<>(epochs);
    }

    boolean owns(int shard) {
        return epochs.containsKey(shard);
    }

    int size() {
        return epochs.size();
    }

    /** Whether there is no shard that another relay reads, or soon will. */
    boolean ownsAll() {
        return epochs.size() == shards && leaving.isEmpty();
    }

    /** What may be read: owned and not about to be given up. */
    Map<Integer, Long> readable() {
        Map<Integer, Long> readable = all();
        readable.keySet().removeAll(leaving);
        return readable;
    }

    /** Nothing more is read from these, so that they can be given up soon. */
    void leave(Collection<Integer> shards) {
        leaving.addAll(shards);
    }

    Set<Integer> leaving() {
        return Set.copyOf(leaving);
    }

    /** Withdraws those leaving shards of which nothing is taken, and returns them with their epochs. */
    Map<Integer, Long> withdrawIdle() {
        Map<Integer, Long> withdrawn = new TreeMap<>();
        for (int shard : leaving()) {
            Long epoch = epochs.remove(shard);
            if (epoch == null) {
                leaving.remove(shard);
            } else if (taken.get(shard) > 0) {
                epochs.put(shard, epoch);
            } else {
                leaving.remove(shard);
                withdrawn.put(shard, epoch);
            }
        }
        return withdrawn;
    }

    void stay(Collection<Integer> shards) {
        leaving.removeAll(shards);
    }

    boolean isIdle(int shard) {
        return taken.get(shard) == 0;
    }

    void took(int shard) {
        taken.incrementAndGet(shard);
    }

    void gave(int shard) {
        taken.decrementAndGet(shard);
    }
}
