// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Delivery;
import io.postrider.relay.Outcome;
import io.postrider.relay.Verdict;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * How one loop treats shards whose owners ended again and again: an event of theirs may be what ends a relay. So it
 * sends some of them, after it has noted in the table which, and the next when they are answered; if it ends, its
 * successor counts that against each of them, and sends these in smaller groups, and those of a small group alone. An event
 * with five such ends is dead: three of them were its own. A shard is calm again once all that its last owner can have sent
 * has gone, also one that was left less often: then that was chance. For one thread.
 */
final class Caution {
    static final String KILLED_RELAY = "KILLED_RELAY";
    static final int ROWS = 1_024;
    /** More would take long when they must be sent in small groups, since a relay ended with them. */
    static final int MOST_AT_ONCE = 256;
    /** More would take long when they must be sent one by one, since a second relay ended with them. */
    static final int MOST_AFTER_AN_END = 16;
    /** So many shards are looked at together, unless it was too much at once. */
    private static final int SPAN = 64;

    private final EventStore events;
    private final Ownership ownership;
    private int span = SPAN;
    private int wanted = MOST_AT_ONCE;
    private boolean shallow;

    Caution(EventStore events, Ownership ownership) {
        this.events = events;
        this.ownership = ownership;
    }

    /**
     * What came of one step.
     *
     * @param suspects what may be sent now, marked, and none beside them
     * @param judged what is dead instead
     */
    record Step(List<Delivery> suspects, List<Verdict> judged) {
        static final Step NOTHING = new Step(List.of(), List.of());
    }

    /**
     * What a look at some shards brought.
     *
     * @param all whether nothing was cut off, so that a shard without a row has none
     */
    record Sight(EventStore.Found found, boolean all) {}

    /** How many events and bytes may be sent together; one event always, however large. */
    record Room(int rows, long bytes) {
        boolean isThereBeside(List<Delivery> others) {
            return others.size() < rows && Caution.bytes(others) < bytes;
        }

        List<Delivery> firstOf(List<Delivery> all) {
            long before = 0;
            int first = 0;
            while (first < all.size() && first < rows && (first == 0 || before < bytes)) {
                before += all.get(first).event().payloadSize();
                first++;
            }
            return all.subList(0, first);
        }
    }

    static long bytes(List<Delivery> deliveries) {
        return deliveries.stream()
                .mapToLong(delivery -> delivery.event().payloadSize())
                .sum();
    }

    /** How many rows of each stream and shard to look at, so that there are about as many as may be sent together. */
    int depth(int shards) {
        return shallow ? 1 : Math.max(1, wanted / shards);
    }

    boolean covers(int shard, long epoch) {
        return ownership.suspects().isCareful(shard, epoch);
    }

    /**
     * Looks for the next events to be sent from these shards, if none of the kind is on its way.
     *
     * @param room for how many there is
     * @param partial whether it looks at one stream alone, which shows no shard to be calm
     */
    Step take(
            Map<Integer, Long> careful,
            Function<Map<Integer, Long>, Sight> look,
            Collection<Delivery> taken,
            Room room,
            boolean partial) {
        Suspects suspects = ownership.suspects();
        if (careful.isEmpty() || !suspects.isMyTurn(this)) {
            return Step.NOTHING;
        }
        try {
            Map<Integer, Long> rest = new LinkedHashMap<>(careful);
            List<Delivery> oldest = new ArrayList<>();
            while (room.isThereBeside(oldest) && !rest.isEmpty()) {
                Map<Integer, Long> some = first(rest);
                rest.keySet().removeAll(some.keySet());
                oldest.addAll(lookAt(some, look.apply(some), taken, partial));
            }
            // So no event goes before an older one of its key, wherever the list is cut.
            oldest.sort(Comparator.comparingLong(Delivery::id));
            return judgeOrHandOver(room.firstOf(oldest));
        } finally {
            suspects.pass(this);
        }
    }

    private List<Delivery> lookAt(Map<Integer, Long> some, Sight sight, Collection<Delivery> taken, boolean partial) {
        if (sight.all() && !partial) {
            calm(some, sight.found(), taken);
        }
        adapt(sight.all());
        return oldest(sight, partial);
    }

    /** A look that was cut off shows no shard to be calm. So the next one asks for less, until one is not. */
    private void adapt(boolean all) {
        if (all) {
            span = Math.min(SPAN, span * 2);
        } else if (shallow) {
            span = Math.max(1, span / 2);
        }
        shallow = !all;
    }

    private Step judgeOrHandOver(List<Delivery> suspects) {
        List<Delivery> expired = suspects.stream().filter(Delivery::hasExpired).toList();
        if (!expired.isEmpty()) {
            return judge(expired, each -> new Outcome.Expired());
        }
        if (suspects.isEmpty()) {
            return Step.NOTHING;
        }
        Delivery first = suspects.get(0);
        int ends = ShardClaim.of(first).ends();
        if (ends >= Suspects.LAST_DEATH) {
            return judge(List.of(first), each -> new Outcome.Dead(KILLED_RELAY, message(ends)));
        }
        List<Delivery> group = together(suspects);
        wanted = group.size() < suspects.size() ? MOST_AFTER_AN_END : MOST_AT_ONCE;
        Set<Long> marked = events.mark(group);
        List<Delivery> next =
                group.stream().filter(each -> marked.contains(each.id())).toList();
        if (next.isEmpty()) {
            return Step.NOTHING;
        }
        ownership.suspects().handOver(this, next);
        return new Step(next, List.of());
    }

    /** The first that may go beside each other: the more relays have ended with one, the fewer are suspected with it. */
    private static List<Delivery> together(List<Delivery> suspects) {
        int most = MOST_AT_ONCE;
        for (int i = 0; i < suspects.size(); i++) {
            int ends = ShardClaim.of(suspects.get(i)).ends();
            most = Math.min(most, ends == 0 ? MOST_AT_ONCE : ends == 1 ? MOST_AFTER_AN_END : 1);
            if (i >= most) {
                return suspects.subList(0, i);
            }
        }
        return suspects;
    }

    private Step judge(List<Delivery> suspects, Function<Delivery, Outcome.Failed> outcome) {
        List<Verdict> verdicts = suspects.stream()
                .map(each -> new Verdict(each, outcome.apply(each)))
                .toList();
        Set<Long> written = events.verdict(verdicts).written();
        return new Step(
                List.of(),
                verdicts.stream()
                        .filter(each -> written.contains(each.delivery().id()))
                        .toList());
    }

    private static String message(int deaths) {
        return deaths + " relays ended without a word while they were sending this event, so it is not sent any more."
                + " Find out what it does to them (memory, native code), then requeue or discard it.";
    }

    /**
     * Those that an earlier owner can have sent, or all: if such may be behind what was cut off, or if no look will show the
     * shard to be calm.
     */
    private List<Delivery> oldest(Sight sight, boolean partial) {
        List<Delivery> found = sight.found().deliveries();
        List<Delivery> suspected =
                found.stream().filter(this::mayHaveEndedAnOwner).toList();
        boolean anyWillDo = suspected.isEmpty() && (partial || !sight.all());
        return anyWillDo ? found : suspected;
    }

    private boolean mayHaveEndedAnOwner(Delivery delivery) {
        ShardClaim claim = ShardClaim.of(delivery);
        return delivery.id()
                <= ownership.suspects().newest(claim.shard(), claim.epoch()).orElse(-1);
    }

    /**
     * Calms those of these shards that were left by owners who ended, and of which nothing is left that was there then. What
     * waits for its retry, is held or paused does not count: nobody sends it now.
     *
     * @param found all that is to be sent from them
     * @param taken what this loop has under way
     */
    void calm(Map<Integer, Long> shards, EventStore.Found found, Collection<Delivery> taken) {
        Map<Integer, Long> newest = new HashMap<>();
        shards.forEach(
                (shard, epoch) -> ownership.suspects().newest(shard, epoch).ifPresent(id -> newest.put(shard, id)));
        newest.keySet().retainAll(found.owned());
        // Whatever the epoch: what was taken before this relay lost the shard for a while may still be on its way.
        Stream.concat(found.deliveries().stream(), taken.stream()).forEach(delivery -> {
            int shard = ShardClaim.of(delivery).shard();
            if (delivery.id() <= newest.getOrDefault(shard, -1L)) {
                newest.remove(shard);
            }
        });
        if (!newest.isEmpty()) {
            Map<Integer, Long> calm = new LinkedHashMap<>(shards);
            calm.keySet().retainAll(newest.keySet());
            events.calm(calm);
            ownership.suspects().calm(calm);
        }
    }

    private Map<Integer, Long> first(Map<Integer, Long> shards) {
        Map<Integer, Long> some = new LinkedHashMap<>();
        shards.entrySet().stream().limit(span).forEach(entry -> some.put(entry.getKey(), entry.getValue()));
        return some;
    }
}
