// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Delivery;
import io.postrider.relay.Outcome;
import io.postrider.relay.Verdict;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/**
 * How one loop treats shards whose owners ended again and again: an event of theirs may be what ends a relay. So it
 * sends one of them at a time, after it has noted in the table which; if it ends, its successor counts that against the
 * event. An event with three such ends is dead. A shard is calm again once all that its last owner can have sent has
 * gone. For one thread.
 */
final class Caution {
    static final String KILLED_RELAY = "KILLED_RELAY";
    /** The oldest row of each stream is enough. */
    static final int DEPTH = 1;

    static final int ROWS = 256;

    private final EventStore events;
    private final Ownership ownership;
    private int span = 16;

    Caution(EventStore events, Ownership ownership) {
        this.events = events;
        this.ownership = ownership;
    }

    /**
     * What came of one step.
     *
     * @param suspect what may be sent now, marked and alone
     * @param judged what is dead instead
     */
    record Step(Optional<Delivery> suspect, List<Verdict> judged) {
        static final Step NOTHING = new Step(Optional.empty(), List.of());
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
     * Looks for the next event to be sent from these shards, if none of the kind is on its way.
     *
     * @param partial whether it looks at one stream alone, which shows no shard to be calm
     */
    Step take(Map<Integer, Long> careful, Function<Map<Integer, Long>, Sight> look, boolean partial) {
        Suspects suspects = ownership.suspects();
        if (careful.isEmpty() || !suspects.isMyTurn(this)) {
            return Step.NOTHING;
        }
        try {
            Map<Integer, Long> rest = new LinkedHashMap<>(careful);
            Optional<Delivery> oldest = Optional.empty();
            while (oldest.isEmpty() && !rest.isEmpty()) {
                Map<Integer, Long> some = first(rest);
                rest.keySet().removeAll(some.keySet());
                oldest = lookAt(some, look.apply(some), partial);
            }
            return oldest.isEmpty() ? Step.NOTHING : judgeOrHandOver(oldest.get());
        } finally {
            suspects.pass(this);
        }
    }

    private Optional<Delivery> lookAt(Map<Integer, Long> some, Sight sight, boolean partial) {
        if (sight.all() && !partial) {
            calm(some, sight.found());
        }
        Optional<Delivery> oldest = oldest(sight, partial);
        // Where there is something in every shard, to look at many for the sake of one would be waste.
        span = oldest.isPresent() ? Math.max(1, span / 2) : Math.min(span * 4, Ownership.SHARDS);
        return oldest;
    }

    private Step judgeOrHandOver(Delivery suspect) {
        if (suspect.hasExpired()) {
            return judge(suspect, new Outcome.Expired());
        }
        OptionalInt deaths = events.mark(suspect);
        if (deaths.isEmpty()) {
            return Step.NOTHING;
        }
        if (deaths.getAsInt() >= Suspects.LAST_DEATH) {
            return judge(suspect, new Outcome.Dead(KILLED_RELAY, message(deaths.getAsInt())));
        }
        ownership.suspects().handOver(this, suspect);
        return new Step(Optional.of(suspect), List.of());
    }

    private Step judge(Delivery suspect, Outcome.Failed outcome) {
        Verdict dead = new Verdict(suspect, outcome);
        boolean written = events.verdict(List.of(dead)).written().contains(suspect.id());
        return new Step(Optional.empty(), written ? List.of(dead) : List.of());
    }

    private static String message(int deaths) {
        return deaths + " relays ended without a word while they were sending this event, so it is not sent any more."
                + " Find out what it does to them (memory, native code), then requeue or discard it.";
    }

    /**
     * The oldest of those that an earlier owner can have sent, or of all: if such may be behind what was cut off, or if no
     * look will show the shard to be calm.
     */
    private Optional<Delivery> oldest(Sight sight, boolean partial) {
        List<Delivery> found = sight.found().deliveries();
        Optional<Delivery> oldest =
                found.stream().filter(this::mayHaveEndedAnOwner).findFirst();
        return oldest.isPresent() || (sight.all() && !partial)
                ? oldest
                : found.stream().findFirst();
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
        shards.entrySet().stream().limit(span).forEach(entry -> some.put(entry.getKey(), entry.getValue()));
        return some;
    }
}
