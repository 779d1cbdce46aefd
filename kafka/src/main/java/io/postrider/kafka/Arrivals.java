// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.Taken;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** What one consumer has received and not finished: filled by its thread, emptied by that of the loop. Thread-safe. */
final class Arrivals {
    private final ReceivedEvents events;
    private final LongPredicate alive;
    /** A partition of which so many are not finished brings no more: the oldest of them keeps all from being committed. */
    private final int most;

    private final Map<TopicPartition, Assignment> assignments = new LinkedHashMap<>();
    private final Map<Long, Arrival> taken = new HashMap<>();
    private long number = Long.MIN_VALUE;
    private int turn;
    private int asked;

    Arrivals(ReceivedEvents events, LongPredicate alive, int most) {
        this.events = events;
        this.alive = alive;
        this.most = most;
    }

    /** What is collected for one demand. */
    static final class Basket {
        private final Demand demand;
        private final List<Arrival> chosen = new ArrayList<>();
        private long bytes;
        private boolean full;
        private boolean complete = true;
        private long nanosToDue = Long.MAX_VALUE;

        private Basket(Demand demand) {
            this.demand = demand;
        }

        /** Returns whether it would take another. */
        boolean offer(Arrival arrival) {
            String stream = arrival.event().stream();
            boolean wanted =
                    demand.only() == null ? !demand.without().contains(stream) : Objects.equals(demand.only(), stream);
            if (!wanted) {
                return true;
            }
            if (chosen.size() >= demand.rows() || (bytes >= demand.bytes() && !chosen.isEmpty())) {
                full = true;
                return false;
            }
            chosen.add(arrival);
            bytes += arrival.event().payloadSize();
            return true;
        }

        /** Something waits for others of its key. */
        void leftOut() {
            complete = false;
        }

        void due(long nanos) {
            nanosToDue = Math.min(nanosToDue, nanos);
        }
    }

    synchronized void assign(Collection<TopicPartition> partitions) {
        partitions.forEach(partition -> assignments.put(partition, new Assignment(partition, alive)));
    }

    synchronized void add(Iterable<ConsumerRecord<byte[], byte[]>> records) {
        for (ConsumerRecord<byte[], byte[]> record : records) {
            @Nullable Assignment assignment = assignments.get(new TopicPartition(record.topic(), record.partition()));
            if (assignment != null && !assignment.isRevoked()) {
                assignment.add(new Arrival(assignment, record.offset(), number++, events.of(record)));
            }
        }
    }

    synchronized Taken take(Demand demand, long now) {
        Basket basket = new Basket(demand);
        List<Assignment> inTurn = new ArrayList<>(assignments.values());
        Collections.rotate(inTurn, turn++);
        for (Assignment assignment : inTurn) {
            if (assignment.mayStart(now) && !basket.full) {
                assignment.offer(basket, now);
            }
        }
        List<Delivery> deliveries = new ArrayList<>();
        for (Arrival arrival : basket.chosen) {
            Delivery delivery = arrival.take();
            taken.put(delivery.id(), arrival);
            deliveries.add(delivery);
        }
        Optional<Duration> due = basket.nanosToDue == Long.MAX_VALUE
                ? Optional.empty()
                : Optional.of(Duration.ofNanos(basket.nanosToDue));
        return new Taken(deliveries, basket.full, due, List.of(), basket.complete);
    }

    synchronized void finish(List<Delivery> deliveries) {
        deliveries.forEach(delivery -> giveBack(delivery).ifPresent(Arrival::finish));
        notifyAll();
    }

    synchronized void release(List<Delivery> deliveries) {
        deliveries.forEach(delivery -> giveBack(delivery).ifPresent(Arrival::release));
        notifyAll();
    }

    /** Returns whether it will be tried again here; if not, whoever gets its partition begins anew. */
    synchronized boolean retry(Delivery delivery, long dueAt) {
        Optional<Arrival> arrival = giveBack(delivery);
        boolean here = arrival.filter(own -> !own.assignment().isRevoked()).isPresent();
        arrival.ifPresent(here ? own -> own.retryAt(dueAt) : Arrival::release);
        notifyAll();
        return here;
    }

    /**
     * The record shall leave for another topic, also while its partition is handed over; it holds its key until it is
     * {@link Arrival#finish finished}. Empty if its partition is another's by now, who begins anew.
     */
    synchronized Optional<Arrival> leave(Delivery delivery) {
        Optional<Arrival> own =
                giveBack(delivery).filter(arrival -> !arrival.assignment().isGone());
        own.ifPresent(Arrival::leave);
        return own;
    }

    synchronized void left(Arrival arrival) {
        arrival.finish();
        notifyAll();
    }

    private Optional<Arrival> giveBack(Delivery delivery) {
        return Optional.ofNullable(taken.remove(delivery.id()));
    }

    synchronized int taken() {
        return taken.size();
    }

    /** Partitions that have enough. */
    synchronized Set<TopicPartition> full() {
        Set<TopicPartition> full = new HashSet<>();
        assignments.forEach((partition, assignment) -> {
            if (assignment.isFull(most)) {
                full.add(partition);
            }
        });
        return full;
    }

    synchronized Map<TopicPartition, OffsetAndMetadata> committable() {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        assignments.forEach((partition, assignment) ->
                assignment.committable().ifPresent(offset -> offsets.put(partition, new OffsetAndMetadata(offset))));
        return offsets;
    }

    /** What can be committed, or has been, of one partition, each time of another; empty if no record has come. */
    synchronized Map<TopicPartition, OffsetAndMetadata> standingOfOne() {
        List<Assignment> inTurn = new ArrayList<>(assignments.values());
        Collections.rotate(inTurn, asked++);
        for (Assignment assignment : inTurn) {
            OptionalLong offset = assignment.standing();
            if (offset.isPresent()) {
                return Map.of(assignment.partition(), new OffsetAndMetadata(offset.getAsLong()));
            }
        }
        return Map.of();
    }

    /** Whether anything has come that is not finished. */
    synchronized boolean isWaitedFor() {
        return assignments.values().stream().anyMatch(assignment -> !assignment.isEmpty());
    }

    synchronized void committed(Map<TopicPartition, OffsetAndMetadata> offsets) {
        offsets.forEach((partition, offset) -> {
            @Nullable Assignment assignment = assignments.get(partition);
            if (assignment != null) {
                assignment.committed(offset.offset());
            }
        });
    }

    /** Nothing more of these is handed out or started. */
    synchronized void revoke(Collection<TopicPartition> partitions) {
        for (TopicPartition partition : partitions) {
            @Nullable Assignment assignment = assignments.get(partition);
            if (assignment != null) {
                assignment.revoke();
            }
        }
    }

    synchronized Set<TopicPartition> assigned() {
        return Set.copyOf(assignments.keySet());
    }

    /** Waits until nothing of these is under way; returns whether it came to that. */
    synchronized boolean awaitFinished(Collection<TopicPartition> partitions, Duration patience)
            throws InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        while (partitions.stream()
                .map(assignments::get)
                .anyMatch(assignment -> assignment != null && assignment.isUnderWay())) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return true;
    }

    synchronized void forget(Collection<TopicPartition> partitions) {
        for (TopicPartition partition : partitions) {
            @Nullable Assignment assignment = assignments.remove(partition);
            if (assignment != null) {
                assignment.go();
            }
        }
    }
}
