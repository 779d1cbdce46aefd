// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Delivery;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Which shards of a relay were left by owners that ended, and those of them that must be treated with care, since that happened
 * again and again; and the events of the latter that are on their way in this process: the next ones go when all of them are
 * answered. Shared by the membership and the loops. Thread-safe.
 */
final class Suspects {
    /** So many owners in a row without a release are more than chance; two are often killed one after the other. */
    static final int CAREFUL_FROM = 3;
    /** An event with which so many relays have ended is not sent any more: two beside others, fewer each time, then alone. */
    static final int LAST_DEATH = 5;

    private record Care(long epoch, ShardStore.Left left) {}

    private final ConcurrentMap<Integer, Care> cares = new ConcurrentHashMap<>();
    private final AtomicReference<@Nullable Object> turn = new AtomicReference<>();

    /** Notes how they were left; to be called before anybody may read them. */
    void add(ShardStore.Won won) {
        won.left().forEach((shard, left) -> {
            Long epoch = won.epochs().get(shard);
            if (epoch != null) {
                cares.put(shard, new Care(epoch, left));
            }
        });
    }

    boolean isCareful(int shard, long epoch) {
        Care care = cares.get(shard);
        return care != null && care.epoch() == epoch && care.left().unclean() >= CAREFUL_FROM;
    }

    /**
     * The newest id that may have ended the last owner of this shard; empty if none can have. What has a higher one came
     * later.
     */
    OptionalLong newest(int shard, long epoch) {
        Care care = cares.get(shard);
        return care != null && care.epoch() == epoch
                ? OptionalLong.of(care.left().newest())
                : OptionalLong.empty();
    }

    void calm(Map<Integer, Long> shards) {
        shards.forEach(
                (shard, epoch) -> cares.computeIfPresent(shard, (same, care) -> care.epoch() == epoch ? null : care));
    }

    /** Whether this loop may look for a suspect now; if so, it must {@link #handOver} or {@link #pass}. */
    boolean isMyTurn(Object loop) {
        return turn.compareAndSet(null, loop);
    }

    void handOver(Object loop, List<Delivery> suspects) {
        turn.compareAndSet(loop, new Round(suspects));
    }

    void pass(Object loop) {
        turn.compareAndSet(loop, null);
    }

    /** A delivery has been settled, judged or released; if it was the last of the suspects, others may be. */
    void gave(Delivery delivery) {
        if (turn.get() instanceof Round round && round.endsWith(delivery)) {
            turn.compareAndSet(round, null);
        }
    }

    /** Suspects that are on their way. */
    private static final class Round {
        private final ConcurrentMap<Long, Delivery> underWay = new ConcurrentHashMap<>();

        Round(List<Delivery> suspects) {
            suspects.forEach(each -> underWay.put(each.id(), each));
        }

        boolean endsWith(Delivery delivery) {
            return underWay.remove(delivery.id(), delivery) && underWay.isEmpty();
        }
    }
}
