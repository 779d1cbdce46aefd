// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Delivery;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Which shards of a relay must be treated with care, since their owners ended again and again, and the one event of all
 * these that may be on its way in this process: with two, nobody could say which of them had ended it. Shared by the
 * membership and the loops. Thread-safe.
 */
final class Suspects {
    /** So many owners in a row without a release are more than chance; two are often killed one after the other. */
    static final int CAREFUL_FROM = 3;
    /** An event with which so many relays have ended is not sent any more. */
    static final int LAST_DEATH = 3;

    /** @param newest what has a higher id came later, and cannot have ended anybody */
    private record Care(long epoch, long newest) {}

    private final ConcurrentMap<Integer, Care> cares = new ConcurrentHashMap<>();
    private final AtomicReference<@Nullable Object> turn = new AtomicReference<>();

    /** Notes those to be careful with; to be called before anybody may read them. */
    void add(ShardStore.Won won) {
        won.careful().forEach((shard, newest) -> {
            Long epoch = won.epochs().get(shard);
            if (epoch != null) {
                cares.put(shard, new Care(epoch, newest));
            }
        });
    }

    /** The newest id that may have ended an owner of this shard; empty if there is nothing to be careful with. */
    OptionalLong newest(int shard, long epoch) {
        Care care = cares.get(shard);
        return care != null && care.epoch() == epoch ? OptionalLong.of(care.newest()) : OptionalLong.empty();
    }

    void calm(Map<Integer, Long> shards) {
        shards.forEach(
                (shard, epoch) -> cares.computeIfPresent(shard, (same, care) -> care.epoch() == epoch ? null : care));
    }

    /** Whether this loop may look for a suspect now; if so, it must {@link #handOver} or {@link #pass}. */
    boolean isMyTurn(Object loop) {
        return turn.compareAndSet(null, loop);
    }

    void handOver(Object loop, Delivery suspect) {
        turn.compareAndSet(loop, suspect);
    }

    void pass(Object loop) {
        turn.compareAndSet(loop, null);
    }

    /** A delivery has been settled, judged or released; if it was the suspect, another may be. */
    void gave(Delivery delivery) {
        turn.compareAndSet(delivery, null);
    }
}
