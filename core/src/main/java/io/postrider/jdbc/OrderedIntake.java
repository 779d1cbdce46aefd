// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.FeedException;
import io.postrider.relay.Intake;
import io.postrider.relay.Outcome;
import io.postrider.relay.Settler;
import io.postrider.relay.Taken;
import io.postrider.relay.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One loop's part of the shards. Taking a row writes nothing: to own its shard is enough.
 *
 * <p>Shards with a held key are read apart, and in at most a twentieth of the time: to pass over what waits behind a held key
 * costs as much as reading it, and must not slow the others down.
 */
final class OrderedIntake implements Intake {
    private static final Logger log = LoggerFactory.getLogger(OrderedIntake.class);
    private static final int MIN_DEPTH = 4;
    private static final int MAX_DEEPER = 1 << 12;
    private static final int HELD_SHARE = 20;
    private static final long LONGEST_HELD_PAUSE = Duration.ofSeconds(10).toNanos();
    /** How long until shards to be careful with are looked at again. */
    private static final Duration LOOK_AGAIN = Duration.ofMillis(10);
    /** How long the others are left alone meanwhile if they brought nothing: each group of suspects asks for a read. */
    private static final long OTHERS_AGAIN = Duration.ofMillis(50).toNanos();

    private final EventStore events;
    private final Ownership ownership;
    private final Part part;
    private final LongSupplier ticker;
    private final Caution caution;

    private final Map<Long, Delivery> taken = new HashMap<>();
    private final Set<Integer> holding = new HashSet<>();
    private int deeper = 1;
    private int turn;
    private long heldReadAt;
    /** How long the last read of them took: one that stood still says nothing about what a read costs, two in a row do. */
    private long heldTook;

    private long othersReadAt;
    private boolean isCareful;

    /**
     * Which shards an intake serves: those whose number has the remainder {@code index} when divided by {@code count}.
     *
     * @param onePass held shards get all the time they need, since there is no second pass
     * @param only this stream alone; {@code null}: all
     */
    record Part(
            int index, int count, boolean onePass, @Nullable String only) {}

    OrderedIntake(EventStore events, Ownership ownership, Part part, LongSupplier ticker) {
        this.events = events;
        this.ownership = ownership;
        this.part = part;
        this.ticker = ticker;
        this.caution = new Caution(events, ownership);
        this.heldReadAt = ticker.getAsLong();
        this.othersReadAt = heldReadAt;
    }

    @Override
    public Taken take(Demand demand) {
        if (!ownership.mayStart(ticker.getAsLong())) {
            // Which is no look at all: a drain must not take it for the end.
            return new Taken(List.of(), false, Optional.empty(), List.of(), false);
        }
        Map<Integer, Long> free = new LinkedHashMap<>();
        Map<Integer, Long> held = new LinkedHashMap<>();
        Map<Integer, Long> careful = new LinkedHashMap<>();
        inTurn(ownership.readable())
                .forEach((shard, epoch) -> (caution.covers(shard, epoch)
                                ? careful
                                : holding.contains(shard) ? held : free)
                        .put(shard, epoch));
        isCareful = !careful.isEmpty();
        List<Delivery> deliveries = new ArrayList<>();
        boolean more = false;
        Optional<Duration> due = Optional.empty();
        if (!held.isEmpty() && ticker.getAsLong() - heldReadAt >= 0) {
            long before = ticker.getAsLong();
            Taken apart = read(held, demand, Math.max(1, demand.rows() / 2), false);
            long after = ticker.getAsLong();
            heldReadAt = part.onePass() ? after : after + heldPause(Math.min(after - before, heldTook));
            heldTook = after - before;
            deliveries.addAll(apart.deliveries());
            due = apart.nextDue();
        }
        if (!free.isEmpty() && (careful.isEmpty() || readsOthers(demand))) {
            Taken rest = orGiveBack(deliveries, () -> read(free, demand, demand.rows(), isOfAll(demand)));
            boolean none = rest.deliveries().isEmpty() && isOfAll(demand);
            othersReadAt = ticker.getAsLong() + (none ? OTHERS_AGAIN : 0);
            deliveries.addAll(rest.deliveries());
            more = rest.more();
            due = earlier(due, rest.nextDue());
        }
        if (careful.isEmpty()) {
            List<Verdict> judged = judgeExpired(deliveries, false);
            // Who was not entitled any more when the statement ran has seen nothing, though there may be much.
            boolean complete = !mayHold() && ownership.mayStart(ticker.getAsLong());
            // What they held, or were before, can be read now.
            return new Taken(deliveries, more || !judged.isEmpty(), due, judged, complete);
        }
        // The last, since what it judges must not be forgotten because a later read failed.
        Caution.Step step = orGiveBack(deliveries, () -> takeWithCare(careful, demand));
        List<Verdict> judged = new ArrayList<>(step.judged());
        judged.addAll(judgeExpired(deliveries, !step.equals(Caution.Step.NOTHING)));
        deliveries.addAll(step.suspects());
        // Of one stream alone no shard is ever seen to be calm, so it is complete when nothing of it is left.
        boolean complete =
                part.only() != null && taken.isEmpty() && judged.isEmpty() && ownership.mayStart(ticker.getAsLong());
        return new Taken(
                deliveries, more || !judged.isEmpty(), earlier(due, Optional.of(LOOK_AGAIN)), judged, complete);
    }

    /**
     * Takes those out that have expired. They hold nobody, so it does not matter what of their keys is before them; what is
     * behind them is given back, since whoever skips the dead is told of the gap by what is read after it.
     *
     * @param others whether something else was taken or judged
     */
    private List<Verdict> judgeExpired(List<Delivery> deliveries, boolean others) {
        List<Verdict> expired = deliveries.stream()
                .filter(Delivery::hasExpired)
                .map(delivery -> new Verdict(delivery, new Outcome.Expired()))
                .toList();
        if (expired.isEmpty()) {
            return expired;
        }
        deliveries.removeIf(Delivery::hasExpired);
        record Key(String stream, String key) {}
        Map<Optional<Key>, Long> first = new HashMap<>();
        Function<Delivery, Optional<Key>> keyOf =
                delivery -> delivery.event().key().map(key -> new Key(delivery.event().stream(), key));
        expired.forEach(each ->
                first.merge(keyOf.apply(each.delivery()), each.delivery().id(), Math::min));
        first.remove(Optional.empty());
        List<Delivery> behind = deliveries.stream()
                .filter(delivery -> delivery.id() > first.getOrDefault(keyOf.apply(delivery), Long.MAX_VALUE))
                .toList();
        deliveries.removeAll(behind);
        release(behind);
        try {
            return verdict(expired);
        } catch (FeedException e) {
            // The others must not be forgotten; these come back and are judged then.
            release(expired.stream().map(Verdict::delivery).toList());
            if (deliveries.isEmpty() && !others) {
                throw e;
            }
            log.debug("What has expired could not be written yet", e);
            return List.of();
        }
    }

    /** Whether something under way may hold its key, so that there is more to be read when it is settled. */
    private boolean mayHold() {
        return !holding.isEmpty()
                && taken.values().stream()
                        .anyMatch(each -> holding.contains(ShardClaim.of(each).shard()));
    }

    private boolean readsOthers(Demand demand) {
        return part.onePass() || demand.only() != null || ticker.getAsLong() - othersReadAt >= 0;
    }

    /** Whether no stream is left out but those from which nobody sends. */
    private boolean isOfAll(Demand demand) {
        return only(demand) == null && demand.without().equals(demand.closed());
    }

    private static long heldPause(long took) {
        return Math.min((HELD_SHARE - 1) * took, LONGEST_HELD_PAUSE);
    }

    /** If it fails, what the reads before it brought has been handed to nobody and must not count as taken. */
    private <T> T orGiveBack(List<Delivery> before, Supplier<T> read) {
        try {
            return read.get();
        } catch (RuntimeException e) {
            release(before);
            throw e;
        }
    }

    private Caution.Step takeWithCare(Map<Integer, Long> careful, Demand demand) {
        Caution.Step step = caution.take(
                careful,
                shards -> {
                    // A group has room beside a full window, and a shard of which a part was left out would look calm.
                    EventStore.Found found = look(new EventStore.Query(
                            shards,
                            taken.keySet(),
                            caution.depth(shards.size()),
                            Caution.ROWS,
                            demand.bytes(),
                            demand.closed(),
                            only(demand),
                            false));
                    boolean all = found.deliveries().size() < Caution.ROWS
                            && Caution.bytes(found.deliveries()) < demand.bytes();
                    return new Caution.Sight(found, all);
                },
                taken.values(),
                new Caution.Room(
                        only(demand) == null ? Math.max(1, Math.min(Caution.MOST_AT_ONCE, demand.rows())) : 1,
                        demand.bytes()),
                only(demand) != null);
        step.suspects().forEach(this::took);
        return step;
    }

    private Taken read(Map<Integer, Long> shards, Demand demand, int rows, boolean orPart) {
        // Breadth first: few rows of many keys go faster than many of few. Deeper only where breadth leaves room.
        int askedDepth = Math.min(rows, Math.max(MIN_DEPTH, rows * 5 / 4 / shards.size()) * deeper);
        EventStore.Found found = look(new EventStore.Query(
                shards, taken.keySet(), askedDepth, rows, demand.bytes(), demand.without(), only(demand), orPart));
        boolean full = found.deliveries().size() >= rows || Caution.bytes(found.deliveries()) >= demand.bytes();
        boolean deep = deepest(found.deliveries()) >= askedDepth;
        boolean cutOff = found.part() || full || deep;
        if (!cutOff && isOfAll(demand)) {
            caution.calm(shards, found, taken.values());
        }
        found.deliveries().forEach(this::took);
        if (full) {
            deeper = Math.max(1, deeper / 4);
        } else if (deep && !found.part()) {
            deeper = Math.min(deeper * 4, MAX_DEEPER);
        }
        return new Taken(
                found.deliveries(),
                cutOff,
                found.dueInMicros().map(micros -> Duration.ofNanos(Math.max(0, micros) * 1000)));
    }

    private @Nullable String only(Demand demand) {
        return demand.only() == null ? part.only() : demand.only();
    }

    private EventStore.Found look(EventStore.Query query) {
        EventStore.Found found = events.read(query);
        Map<Integer, Long> shards = query.shards();
        shards.forEach((shard, epoch) -> {
            if (!found.owned().contains(shard)) {
                ownership.lost(shard, epoch);
            }
        });
        holding.removeAll(shards.keySet());
        holding.addAll(found.holding());
        if (!found.newStreams().isEmpty()) {
            register(found.newStreams());
        }
        return found;
    }

    /** If it fails, what was found is handed to nobody and has to be found again. */
    private void register(Set<String> streams) {
        try {
            events.register(streams);
        } catch (FeedException e) {
            events.released();
            throw e;
        }
    }

    @Override
    public void settle(List<Delivery> published) {
        events.settle(published);
        published.forEach(this::gave);
    }

    @Override
    public Optional<Settler> settler() {
        return events.settler();
    }

    @Override
    public void settled(List<Delivery> gone) {
        if (!gone.stream().allMatch(each -> taken.containsKey(each.id()))) {
            // It had been given up before, and may have been read once more.
            events.released();
        }
        gone.forEach(this::gave);
    }

    @Override
    public List<Verdict> verdict(List<Verdict> verdicts) {
        EventStore.Judged judged = events.verdict(verdicts);
        for (Verdict verdict : verdicts) {
            ShardClaim claim = ShardClaim.of(verdict.delivery());
            if (!judged.owned().contains(claim.shard())) {
                ownership.lost(claim.shard(), claim.epoch());
            }
            gave(verdict.delivery());
        }
        return verdicts.stream()
                .filter(verdict -> judged.written().contains(verdict.delivery().id()))
                .toList();
    }

    @Override
    public void release(List<Delivery> deliveries) {
        if (!deliveries.isEmpty()) {
            events.released();
        }
        deliveries.forEach(this::gave);
    }

    @Override
    public boolean putsOff() {
        return isCareful || !holding.isEmpty();
    }

    @Override
    public int size() {
        return taken.size();
    }

    @Override
    public void close() {
        List.copyOf(taken.values()).forEach(this::gave);
        events.close();
    }

    private void took(Delivery delivery) {
        taken.put(delivery.id(), delivery);
        ownership.took(ShardClaim.of(delivery).shard());
    }

    private void gave(Delivery delivery) {
        if (taken.remove(delivery.id(), delivery)) {
            ownership.gave(ShardClaim.of(delivery).shard());
            ownership.suspects().gave(delivery);
        }
    }

    /** This loop's part, starting with another shard each time, so that none is always the first to be served. */
    private Map<Integer, Long> inTurn(Map<Integer, Long> shards) {
        List<Integer> mine = shards.keySet().stream()
                .filter(shard -> shard % part.count() == part.index())
                .toList();
        Map<Integer, Long> turned = new LinkedHashMap<>();
        turn = mine.isEmpty() ? 0 : (turn + 1) % mine.size();
        for (int i = 0; i < mine.size(); i++) {
            int shard = mine.get((turn + i) % mine.size());
            Long epoch = shards.get(shard);
            if (epoch != null) {
                turned.put(shard, epoch);
            }
        }
        return turned;
    }

    /** The largest number of rows from one shard and stream. */
    private static int deepest(List<Delivery> deliveries) {
        Map<String, int[]> rows = new HashMap<>();
        int most = 0;
        for (Delivery delivery : deliveries) {
            int[] ofStream = rows.computeIfAbsent(delivery.event().stream(), stream -> new int[Ownership.SHARDS]);
            most = Math.max(most, ++ofStream[ShardClaim.of(delivery).shard()]);
        }
        return most;
    }

    private static Optional<Duration> earlier(Optional<Duration> a, Optional<Duration> b) {
        return a.isEmpty() ? b : b.isEmpty() ? a : Optional.of(a.get().compareTo(b.get()) <= 0 ? a.get() : b.get());
    }
}
