// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The only one who touches a consumer: polls all the time, so that slow handlers cost it no place in its group, and commits
 * what is finished. Handlers never run here.
 */
final class ConsumerThread extends Thread {
    private static final Logger log = LoggerFactory.getLogger(ConsumerThread.class);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);
    /** One that has polled for so long without a failure is well, also if nothing came; its next failure is told again. */
    private static final Duration WELL_AFTER = Duration.ofSeconds(10);

    private final ConsumerSettings settings;
    private final GroupPlace place;
    private final Arrivals arrivals;
    private final Set<String> topics;
    private volatile Runnable look = () -> {};
    private volatile boolean wanted = true;
    private volatile boolean ending;
    private boolean failing;
    private long failedAt;
    private boolean committing;
    private boolean sure;

    ConsumerThread(String name, ConsumerSettings settings, Map<String, String> streamsByTopic) {
        super("postrider-" + name);
        this.settings = settings;
        this.topics = Set.copyOf(streamsByTopic.keySet());
        this.place = new GroupPlace(settings.sessionTimeout());
        this.arrivals = new Arrivals(new ReceivedEvents(streamsByTopic), place::isSure, settings.mostUnfinished());
        setDaemon(true);
    }

    Arrivals arrivals() {
        return arrivals;
    }

    void onArrival(Runnable look) {
        this.look = look;
    }

    void wants(boolean share) {
        wanted = share;
    }

    void end() {
        ending = true;
        LockSupport.unpark(this);
    }

    void awaitEnd(long deadline) {
        boolean interrupted = false;
        while (isAlive() && deadline - System.nanoTime() > 0) {
            try {
                join(50);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void run() {
        while (!ending) {
            try (Consumer<byte[], byte[]> consumer = settings.open()) {
                serve(consumer);
            } catch (RuntimeException | Error e) {
                // Also an error: without this thread nothing would be received any more, and nobody would know.
                abandonAll();
                failedAt = System.nanoTime();
                if (!failing) {
                    failing = true;
                    log.warn(
                            "A Kafka consumer failed and is opened anew: {}",
                            settings.secrets().describe(e));
                }
                Thread.interrupted();
                LockSupport.parkNanos(this, PAUSE_AFTER_FAILURE.toNanos());
            }
        }
    }

    private void serve(Consumer<byte[], byte[]> consumer) {
        HandOver handOver = new HandOver(consumer);
        boolean subscribed = false;
        committing = false;
        while (!ending) {
            if (wanted != subscribed) {
                subscribed = wanted;
                if (wanted) {
                    consumer.subscribe(topics, handOver);
                } else {
                    handOver.finishAll(settings.handOverTime());
                    consumer.unsubscribe();
                }
            }
            if (subscribed) {
                poll(consumer);
            } else {
                LockSupport.parkNanos(this, POLL.toNanos());
            }
        }
        // Its loop has ended before: nobody is left who would finish anything.
        handOver.finishAll(Duration.ZERO);
    }

    private void poll(Consumer<byte[], byte[]> consumer) {
        ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
        if (failing
                && System.nanoTime() - failedAt >= WELL_AFTER.toNanos()
                && !consumer.assignment().isEmpty()) {
            failing = false;
        }
        if (!records.isEmpty()) {
            failing = false;
            arrivals.add(records);
            look.run();
        }
        Set<TopicPartition> full = arrivals.full();
        full.retainAll(consumer.assignment());
        Set<TopicPartition> again = new HashSet<>(consumer.paused());
        again.removeAll(full);
        consumer.resume(again);
        consumer.pause(full);
        commit(consumer);
    }

    private void commit(Consumer<byte[], byte[]> consumer) {
        long now = System.nanoTime();
        Map<TopicPartition, OffsetAndMetadata> offsets = arrivals.committable();
        notice(place.isSure(now));
        if (committing) {
            return;
        }
        if (place.isToBeAsked(now)) {
            // A commit is how the coordinator is asked, also if nothing has changed. Of one partition: one that cannot
            // be
            // committed, since its topic is gone, makes all others of its request count as failed.
            offsets = arrivals.standingOfOne();
        }
        if (offsets.isEmpty()) {
            return;
        }
        committing = true;
        // Called by this thread, within a poll. What could not be committed is committed with what comes later.
        consumer.commitAsync(offsets, (done, failure) -> {
            committing = false;
            if (failure == null) {
                arrivals.committed(done);
                place.confirm(now);
                notice(place.isSure(System.nanoTime()));
            } else {
                log.debug("Offsets were not committed; they are next time", failure);
            }
        });
    }

    private void notice(boolean sureNow) {
        if (sureNow && !sure) {
            look.run();
        } else if (sure && !sureNow && arrivals.isWaitedFor()) {
            log.warn(
                    "The coordinator of the group has not confirmed this consumer's place for most of a session; until it"
                            + " does, nothing more is started of what was received");
        }
        sure = sureNow;
    }

    private void abandonAll() {
        Set<TopicPartition> all = arrivals.assigned();
        arrivals.revoke(all);
        arrivals.forget(all);
    }

    /** Told by the consumer, within a poll, which partitions come and go. */
    private final class HandOver implements ConsumerRebalanceListener {
        private final Consumer<byte[], byte[]> consumer;
        private boolean ends;

        HandOver(Consumer<byte[], byte[]> consumer) {
            this.consumer = consumer;
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            arrivals.assign(partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            finish(partitions, ends ? Duration.ZERO : settings.handOverTime(), false);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            arrivals.revoke(partitions);
            arrivals.forget(partitions);
        }

        /** Gives up all that it has, between two polls. */
        void finishAll(Duration patience) {
            ends = true;
            finish(arrivals.assigned(), patience, true);
            // A rebalance that was waited for may have brought others, which nobody wants any more.
            abandonAll();
            ends = false;
        }

        /** Lets what is under way end, commits it, and forgets the rest, which is another's. */
        private void finish(Collection<TopicPartition> partitions, Duration patience, boolean mayPoll) {
            arrivals.revoke(partitions);
            try {
                if (!arrivals.awaitFinished(partitions, patience)) {
                    log.warn("Partitions go to another consumer while events of theirs are still being handled here;"
                            + " those will be handled again");
                }
                commitFinished(partitions, mayPoll);
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            } catch (RuntimeException e) {
                log.warn(
                        "Offsets could not be committed; their events will be handled again: {}",
                        settings.secrets().describe(e));
            } finally {
                arrivals.forget(partitions);
            }
        }

        /** @param mayPoll whether it is not within a poll: in the middle of a rebalance only polls lead to where it can commit */
        private void commitFinished(Collection<TopicPartition> partitions, boolean mayPoll) {
            long end = System.nanoTime() + settings.handOverTime().toNanos();
            Map<TopicPartition, OffsetAndMetadata> offsets = finishedOf(partitions);
            while (!offsets.isEmpty()) {
                long left = Math.max(0, end - System.nanoTime());
                try {
                    consumer.commitSync(offsets, Duration.ofNanos(left));
                    return;
                } catch (RebalanceInProgressException e) {
                    if (!mayPoll || left == 0) {
                        throw e;
                    }
                    // What it brings is passed over: this consumer commits nothing more of it.
                    consumer.poll(POLL);
                    offsets = finishedOf(partitions);
                }
            }
        }

        private Map<TopicPartition, OffsetAndMetadata> finishedOf(Collection<TopicPartition> partitions) {
            Map<TopicPartition, OffsetAndMetadata> offsets = arrivals.committable();
            offsets.keySet().retainAll(partitions);
            return offsets;
        }
    }
}
