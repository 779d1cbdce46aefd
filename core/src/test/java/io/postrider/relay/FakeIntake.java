// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A table in memory that is read as the real one is: from the beginning, without what is taken, what is not due and what
 * stands behind a held key. Thread-safe.
 */
class FakeIntake implements Intake {
    enum Status {
        PENDING,
        WAITING,
        DEAD,
        UNKNOWN
    }

    /** An undelivered event. */
    static final class Row {
        final long id;
        final OutboxEvent event;
        int revision;
        int attempts;
        Status status = Status.PENDING;
        long dueAt;

        Row(long id, OutboxEvent event) {
            this.id = id;
            this.event = event;
        }

        boolean holds() {
            return status != Status.PENDING && event.key().isPresent();
        }
    }

    private final LongSupplier ticker;
    private final TreeMap<Long, Row> rows = new TreeMap<>();
    private final Map<Long, Delivery> taken = new HashMap<>();
    private final Map<OutboxEvent, Long> idsOf = new HashMap<>();
    private long ids;

    final List<Demand> demands = new ArrayList<>();
    final List<Long> settled = new ArrayList<>();
    final List<Verdict> written = new ArrayList<>();
    /** Calls that reached the feed, also those that failed. */
    int calls;

    boolean failing;
    boolean complete = true;
    Runnable onTake = () -> {};
    Runnable onSettle = () -> {};
    boolean closed;
    boolean keepsOrder = true;
    boolean putsOff;
    /** Rows up to this one have expired: they are judged where they are read. */
    long expiredUpTo;

    Claim claim = Deliveries.ALWAYS;
    /** Takes what is settled aside, if there is one. */
    @Nullable
    FakeSettler settler;

    FakeIntake(LongSupplier ticker) {
        this.ticker = ticker;
    }

    synchronized long append(OutboxEvent event) {
        rows.put(++ids, new Row(ids, event));
        idsOf.put(event, ids);
        return ids;
    }

    synchronized long append(String stream, String key) {
        return append(Deliveries.event(stream, key).build());
    }

    /** The row of an event, also after it was settled. */
    synchronized long idOf(OutboxEvent event) {
        Long id = idsOf.get(event);
        if (id == null) {
            throw new AssertionError("Never appended: " + event);
        }
        return id;
    }

    synchronized List<Row> rows() {
        return List.copyOf(rows.values());
    }

    synchronized List<Long> taken() {
        return taken.keySet().stream().sorted().toList();
    }

    @Override
    public boolean keepsOrder() {
        return keepsOrder;
    }

    @Override
    public boolean putsOff() {
        return putsOff;
    }

    @Override
    public synchronized Taken take(Demand demand) {
        touch();
        onTake.run();
        int room = demand.rows()
                - demand.load().values().stream().mapToInt(Integer::intValue).sum();
        demands.add(demand);
        List<Delivery> deliveries = new ArrayList<>();
        long bytes = 0;
        boolean more = false;
        for (Row row : rows.values()) {
            if (!mayBeTaken(row, demand)) {
                continue;
            }
            if (deliveries.size() == room || (!deliveries.isEmpty() && bytes >= demand.bytes())) {
                more = true;
                break;
            }
            bytes += row.event.payloadSize();
            Delivery delivery = new Delivery(row.id, row.revision, row.attempts, row.event, claim);
            if (taken.put(row.id, delivery) != null) {
                throw new AssertionError("Taken twice: " + delivery);
            }
            deliveries.add(delivery);
        }
        List<Verdict> expired = deliveries.stream()
                .filter(delivery -> delivery.id() <= expiredUpTo)
                .map(delivery -> new Verdict(delivery, new Outcome.Expired()))
                .toList();
        deliveries.removeIf(delivery -> delivery.id() <= expiredUpTo);
        return new Taken(deliveries, more, nextDue(), expired.isEmpty() ? expired : verdict(expired), complete);
    }

    private boolean mayBeTaken(Row row, Demand demand) {
        String stream = row.event.stream();
        return !taken.containsKey(row.id)
                && !demand.without().contains(stream)
                && (demand.only() == null || stream.equals(demand.only()))
                && (row.status == Status.PENDING
                        || (row.status == Status.WAITING && row.dueAt - ticker.getAsLong() <= 0))
                && rows.headMap(row.id).values().stream().noneMatch(older -> older.holds() && sameKey(older, row));
    }

    private static boolean sameKey(Row a, Row b) {
        return a.event.stream().equals(b.event.stream()) && a.event.key().equals(b.event.key());
    }

    private Optional<Duration> nextDue() {
        return rows.values().stream()
                .filter(row -> row.status == Status.WAITING && row.dueAt - ticker.getAsLong() > 0)
                .map(row -> Duration.ofNanos(row.dueAt - ticker.getAsLong()))
                .min(Duration::compareTo);
    }

    @Override
    public synchronized void settle(List<Delivery> published) {
        touch();
        onSettle.run();
        remove(published);
        published.forEach(delivery -> taken.remove(delivery.id(), delivery));
    }

    /** What a settle does to the table. */
    synchronized void remove(List<Delivery> published) {
        for (Delivery delivery : published) {
            Row row = rows.get(delivery.id());
            if (row != null && row.revision == delivery.revision()) {
                rows.remove(delivery.id());
                settled.add(delivery.id());
            }
        }
    }

    @Override
    public Optional<Settler> settler() {
        return Optional.ofNullable(settler);
    }

    @Override
    public synchronized List<Verdict> verdict(List<Verdict> verdicts) {
        touch();
        List<Verdict> done = new ArrayList<>();
        for (Verdict verdict : verdicts) {
            Delivery delivery = verdict.delivery();
            taken.remove(delivery.id(), delivery);
            Row row = rows.get(delivery.id());
            if (row != null && row.revision == delivery.revision()) {
                row.revision++;
                row.attempts++;
                row.status = status(verdict.outcome());
                row.dueAt = ticker.getAsLong()
                        + (verdict.outcome() instanceof Outcome.Retry retry
                                ? retry.delay().toNanos()
                                : 0);
                done.add(verdict);
            }
        }
        written.addAll(done);
        return done;
    }

    private static Status status(Outcome.Failed outcome) {
        if (outcome instanceof Outcome.Unknown) {
            return Status.UNKNOWN;
        }
        return outcome instanceof Outcome.Retry ? Status.WAITING : Status.DEAD;
    }

    /** Somebody else, such as a publisher, removes the row. */
    synchronized void remove(long id) {
        rows.remove(id);
    }

    @Override
    public synchronized void settled(List<Delivery> gone) {
        gone.forEach(delivery -> taken.remove(delivery.id(), delivery));
    }

    @Override
    public synchronized void release(List<Delivery> deliveries) {
        deliveries.forEach(delivery -> taken.remove(delivery.id(), delivery));
    }

    @Override
    public synchronized int size() {
        return taken.size();
    }

    @Override
    public synchronized void close() {
        closed = true;
    }

    private void touch() {
        calls++;
        if (failing) {
            throw new FeedException("The table is out of reach", new IllegalStateException());
        }
    }

    /** Whether there are only dead events and what waits behind them. */
    boolean nothingLeft() {
        Set<String> heldKeys = new HashSet<>();
        for (Row row : rows()) {
            String key = row.event.stream() + "/" + row.event.key().orElse("");
            if (row.status == Status.DEAD || row.status == Status.UNKNOWN) {
                heldKeys.add(row.event.key().isPresent() ? key : "");
            } else if (!heldKeys.contains(key)) {
                return false;
            }
        }
        return true;
    }
}
