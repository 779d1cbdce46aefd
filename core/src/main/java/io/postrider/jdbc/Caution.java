// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Delivery;
import io.postrider.relay.Outcome;
import io.postrider.relay.Verdict;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * How one loop treats shards whose owners ended again and again: an event of theirs may be what ends a relay. So it
 * sends a few of them, one of a shard, after it has noted in the table which, and the next when they are answered; if it
 * ends, its successor counts that against each of them, and sends these alone. An event with four such ends is dead: three
 * of them were its own. A shard is calm again once all that its last owner can have sent has gone. For one thread.
 */
final class Caution {
    static final String KILLED_RELAY = "KILLED_RELAY";
    /** The oldest row of each stream is enough. */
    static final int DEPTH = 1;

    static final int ROWS = 256;
    /** More would take long when they must be sent one by one, since a relay ended with them. */
    static final int MOST_AT_ONCE = 32;
    /** So many shards are looked at together. */
    private static final int SPAN = 2 * MOST_AT_ONCE;

    private final EventStore events;
    private final Ownership ownership;

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

    boolean covers(int shard, long epoch) {
        return ownership.suspects().newest(shard, epoch).isPresent();
    }

    /**
     * Looks for the next events to be sent from these shards, if none of the kind is on its way.
     *
     * @param most so many at most
     * @param partial whether it looks at one stream alone, which shows no shard to be calm
     */
    Step take(Map<Integer, Long> careful, Function<Map<Integer, Long>, Sight> look, int most, boolean partial) {
        Suspects suspects = ownership.suspects();
        if (careful.isEmpty() || !suspects.isMyTurn(this)) {
            return Step.NOTHING;
        }
        try {
            Map<Integer, Long> rest = new LinkedHashMap<>(careful);
            List<Delivery> oldest = new ArrayList<>();
            while (oldest.size() < most && !rest.isEmpty()) {
                Map<Integer, Long> some = first(rest);
                rest.keySet().removeAll(some.keySet());
                oldest.addAll(lookAt(some, look.apply(some), partial));
            }
            oldest.sort(Comparator.comparingLong(Delivery::id));
            return judgeOrHandOver(oldest.stream().limit(most).toList());
        } finally {
            suspects.pass(this);
        }
    }

    private List<Delivery> lookAt(Map<Integer, Long> some, Sight sight, boolean partial) {
        if (sight.all() && !partial) {
            calm(some, sight.found());
        }
        return oldest(sight, partial);
    }

    private Step judgeOrHandOver(List<Delivery> suspects) {
        List<Delivery> expired = suspects.stream().filter(Delivery::hasExpired).toList();
        if (!expired.isEmpty()) {
            return judge(expired, each -> new Outcome.Expired());
        }
        Map<Long, Integer> deaths = suspects.isEmpty() ? Map.of() : events.mark(suspects);
        List<Delivery> marked =
                suspects.stream().filter(each -> deaths.containsKey(each.id())).toList();
        if (marked.isEmpty()) {
            return Step.NOTHING;
        }
        List<Delivery> deadly = withDeaths(marked, deaths, Suspects.LAST_DEATH);
        if (!deadly.isEmpty()) {
            return judge(deadly, each -> new Outcome.Dead(KILLED_RELAY, message(deaths.getOrDefault(each.id(), 0))));
        }
        List<Delivery> doubtful = withDeaths(marked, deaths, 1);
        if (!doubtful.isEmpty() && suspects.size() > 1) {
            // Alone, so that it is known whether it is this one.
            return judgeOrHandOver(doubtful.subList(0, 1));
        }
        ownership.suspects().handOver(this, marked);
        return new Step(marked, List.of());
    }

    private static List<Delivery> withDeaths(List<Delivery> marked, Map<Long, Integer> deaths, int least) {
        return marked.stream()
                .filter(each -> deaths.getOrDefault(each.id(), 0) >= least)
                .toList();
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
     * The oldest in each shard of those that an earlier owner can have sent, or of all: if such may be behind what was cut
     * off, or if no look will show the shard to be calm.
     */
    private List<Delivery> oldest(Sight sight, boolean partial) {
        List<Delivery> found = sight.found().deliveries();
        List<Delivery> suspected =
                found.stream().filter(this::mayHaveEndedAnOwner).toList();
        boolean anyWillDo = suspected.isEmpty() && (partial || !sight.all());
        Map<Integer, Delivery> oldest = new LinkedHashMap<>();
        (anyWillDo ? found : suspected)
                .forEach(each -> oldest.putIfAbsent(ShardClaim.of(each).shard(), each));
        return List.copyOf(oldest.values());
    }

    private boolean mayHaveEndedAnOwner(Delivery delivery) {
        ShardClaim claim = ShardClaim.of(delivery);
        return delivery.id()
                <= ownership.suspects().newest(claim.shard(), claim.epoch()).orElse(-1);
    }

    /** What waits for its retry, is held or paused does not count: nobody sends it now. */
    private void calm(Map<Integer, Long> shards, EventStore.Found found) {
        Map<Integer, Long> calm = new LinkedHashMap<>(shards);
        calm.keySet().retainAll(found.owned());
        found.deliveries().stream()
                .filter(this::mayHaveEndedAnOwner)
                .forEach(delivery -> calm.remove(ShardClaim.of(delivery).shard()));
        calm.keySet().removeIf(shard -> !ownership.isIdle(shard));
        if (!calm.isEmpty()) {
            events.calm(calm);
            ownership.suspects().calm(calm);
        }
    }

    private Map<Integer, Long> first(Map<Integer, Long> shards) {
        Map<Integer, Long> some = new LinkedHashMap<>();
        shards.entrySet().stream().limit(SPAN).forEach(entry -> some.put(entry.getKey(), entry.getValue()));
        return some;
    }
}
