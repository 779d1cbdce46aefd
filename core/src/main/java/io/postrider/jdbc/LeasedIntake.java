// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxEvent;
import io.postrider.relay.Bell.Handed;
import io.postrider.relay.CommitIntake;
import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.FeedException;
import io.postrider.relay.Outcome;
import io.postrider.relay.Taken;
import io.postrider.relay.Verdict;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this process has committed and leased for itself. It reads rows that it is told of, never looks for any, and gives
 * back whatever it may not send or could not deliver: the owner of the shard goes on with it, at the latest when the lease
 * runs out.
 */
final class LeasedIntake implements CommitIntake {
    private static final Logger log = LoggerFactory.getLogger(LeasedIntake.class);
    /** With so many waiting, an event would not be sent sooner than by the owner of its shard. */
    private static final int MOST_WAITING = 10_000;

    private final LeaseStore leases;
    private final Ownership ownership;
    private final LongSupplier ticker;
    private final Runnable passedOver;
    private final Detours detours;

    private final Queue<Handed> handed = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final LongAdder settled = new LongAdder();
    private final Deque<Handed> next = new ArrayDeque<>();
    private final Map<Long, Delivery> taken = new HashMap<>();
    /** When the leases of those taken must be extended. */
    private final Map<Long, Long> extendAt = new HashMap<>();

    private final Set<Long> returning = new LinkedHashSet<>();
    private boolean owes;

    LeasedIntake(LeaseStore leases, Ownership ownership, LongSupplier ticker, Runnable passedOver) {
        this.leases = leases;
        this.ownership = ownership;
        this.ticker = ticker;
        this.passedOver = passedOver;
        this.detours = new Detours(ticker);
    }

    @Override
    public OptionalLong lessee(OutboxEvent event) {
        boolean ready = ownership.mayStart(ticker.getAsLong()) && waiting.get() < MOST_WAITING && !detours.isOn(event);
        return ready ? OptionalLong.of(ownership.member()) : OptionalLong.empty();
    }

    @Override
    public boolean ownsAll() {
        return ownership.ownsAll();
    }

    @Override
    public void handOver(List<Handed> events) {
        waiting.addAndGet(events.size());
        handed.addAll(events);
    }

    @Override
    public Taken take(Demand demand) {
        // First, so that what is read next is seen to stand behind it.
        writeReturns();
        extendLeases();
        detours.end();
        Set<UUID> asked = asked(demand);
        if (asked.isEmpty()) {
            return Taken.nothing();
        }
        LeaseStore.Found found = leases.read(asked, taken.keySet());
        forget(asked);
        if (!found.newStreams().isEmpty()) {
            register(found.newStreams());
        }
        List<Delivery> sendable = withoutClosed(found.sendable(), demand.closed());
        found.barredStreams().forEach(detours::beginAll);
        found.barred().forEach(this::bar);
        sendable.forEach(this::took);
        sendable.forEach(each -> asked.remove(each.event().id()));
        if (!asked.isEmpty()) {
            writeReturnsOrLeaveThem();
            passedOver.run();
        }
        return new Taken(sendable, waiting.get() > 0, Optional.empty());
    }

    private void bar(Delivery delivery) {
        returning.add(delivery.id());
        detours.begin(delivery.event());
    }

    private void took(Delivery delivery) {
        taken.put(delivery.id(), delivery);
        extendAt.put(delivery.id(), ((LeaseClaim) delivery.claim()).startBy());
    }

    private void gave(Delivery delivery) {
        taken.remove(delivery.id(), delivery);
        extendAt.remove(delivery.id());
    }

    /** To a destination that did not answer one event goes, to try it; the others would only be in doubt as well. */
    private List<Delivery> withoutClosed(List<Delivery> found, Set<String> closed) {
        if (closed.isEmpty()) {
            return found;
        }
        Set<String> tried = new HashSet<>();
        List<Delivery> sendable = new ArrayList<>();
        for (Delivery each : found) {
            String stream = each.event().stream();
            if (!closed.contains(stream) || tried.add(stream)) {
                sendable.add(each);
            } else {
                returning.add(each.id());
            }
        }
        return sendable;
    }

    /** What takes long to be answered stays this relay's: whoever sent it now would send it a second time. */
    private void extendLeases() {
        long now = ticker.getAsLong();
        List<Long> ending = extendAt.entrySet().stream()
                .filter(entry -> entry.getValue() - now <= 0)
                .map(Map.Entry::getKey)
                .toList();
        if (!ending.isEmpty()) {
            Map<Long, Long> extended = leases.extend(ending);
            // What had run out is the business of the owner of its shard.
            ending.forEach(extendAt::remove);
            extendAt.putAll(extended);
        }
    }

    /** What is next, as far as there is room for it; it stays where it is until it has been read. */
    private Set<UUID> asked(Demand demand) {
        Set<UUID> asked = new LinkedHashSet<>();
        long bytes = 0;
        for (Handed each : next) {
            asked.add(each.id());
            bytes += each.bytes();
        }
        Handed first;
        while (asked.size() < demand.rows() && bytes < demand.bytes() && (first = handed.poll()) != null) {
            next.add(first);
            asked.add(first.id());
            bytes += first.bytes();
        }
        return asked;
    }

    private void forget(Set<UUID> asked) {
        waiting.addAndGet(-next.size());
        next.clear();
        // Read along with a later one of its key, and under way since then.
        taken.values().forEach(each -> asked.remove(each.event().id()));
    }

    /** What has been read would be forgotten if this failed; the owners of the shards do it as well. */
    private void register(Set<String> streams) {
        try {
            leases.register(streams);
        } catch (FeedException e) {
            log.debug("Streams {} were not registered; others will do it", streams, e);
        }
    }

    private void writeReturns() {
        if (!returning.isEmpty()) {
            leases.release(returning);
            returning.clear();
        }
    }

    private void writeReturnsOrLeaveThem() {
        try {
            writeReturns();
        } catch (FeedException e) {
            // Written before the next read, or their leases run out.
            log.debug("Leases were not given back yet", e);
        }
    }

    @Override
    public void settle(List<Delivery> published) {
        leases.settle(published);
        settled(published);
    }

    @Override
    public void settled(List<Delivery> gone) {
        settled.add(gone.size());
        gone.forEach(this::gave);
        // The next of such a key is not leased, and may have been found to stand behind these.
        if (ownsAll() || gone.stream().anyMatch(each -> detours.isOn(each.event()))) {
            passedOver.run();
        }
    }

    /**
     * Gives them back: whoever owns their shard tries once more, and judges. Except for what must not be tried once more:
     * that is written here.
     */
    @Override
    public List<Verdict> verdict(List<Verdict> verdicts) {
        List<Verdict> unknown = verdicts.stream()
                .filter(verdict -> verdict.outcome() instanceof Outcome.Unknown)
                .toList();
        Set<Long> written = unknown.isEmpty() ? Set.of() : leases.unknown(unknown);
        List<Verdict> done = unknown.stream()
                .filter(verdict -> written.contains(verdict.delivery().id()))
                .toList();
        done.forEach(verdict -> gave(verdict.delivery()));
        release(verdicts.stream().map(Verdict::delivery).toList());
        writeReturns();
        return done;
    }

    @Override
    public void release(List<Delivery> deliveries) {
        for (Delivery each : deliveries) {
            if (taken.get(each.id()) == each) {
                gave(each);
                returning.add(each.id());
            }
        }
    }

    /** Also where nothing more is taken: while what is under way is awaited at a stop, or because there is no room. */
    @Override
    public void writeReleases() {
        extendLeases();
        writeReturns();
    }

    @Override
    public void giveBack() {
        int forgotten = next.size();
        next.clear();
        while (handed.poll() != null) {
            forgotten++;
        }
        waiting.addAndGet(-forgotten);
        owes |= forgotten > 0 || !returning.isEmpty();
        if (owes) {
            leases.releaseAllBut(taken.keySet());
            returning.clear();
            owes = false;
            passedOver.run();
        }
    }

    @Override
    public int size() {
        return taken.size();
    }

    @Override
    public long settledCount() {
        return settled.sum();
    }

    @Override
    public void close() {
        try {
            leases.releaseAllBut(List.of());
        } catch (FeedException e) {
            log.debug("Leases could not be given back and run out by themselves", e);
        } finally {
            leases.close();
        }
    }
}
