// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.relay.PublishException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/** One producer, from its creation until it is closed, and the sends that it has not answered. Thread-safe. */
final class Generation {

    /** What became of a send that was offered. */
    enum Offer {
        /** The producer has it, or has refused it for good: the answer came or will come. */
        TAKEN,
        /** It knows no partition of the topic yet, or its memory is full: try again soon. */
        LATER,
        /** This producer takes nothing more: offer it to another one. */
        CLOSED
    }

    private final Producer<byte[], byte[]> producer;
    private final KafkaFailures failures;
    private final Consumer<Generation> onBroken;
    private final Set<Send> unanswered = ConcurrentHashMap.newKeySet();
    private final Set<String> known = ConcurrentHashMap.newKeySet();
    private volatile boolean delivered;
    /** Only for the producer's own thread. */
    private boolean stopped;

    private volatile @Nullable Function<String, ? extends PublishException> ending;

    /**
     * Wraps a producer that never blocks ({@code max.block.ms=0}).
     *
     * @param onBroken told when the producer reports that it cannot be trusted with further records
     */
    Generation(Producer<byte[], byte[]> producer, KafkaFailures failures, Consumer<Generation> onBroken) {
        this.producer = producer;
        this.failures = failures;
        this.onBroken = onBroken;
    }

    /** Hands a send to the producer if it can take it without waiting. */
    Offer offer(Send send) {
        if (ending != null) {
            return Offer.CLOSED;
        }
        try {
            if (!known.contains(send.topic())) {
                // Asked apart from the send, so that interceptors see a record once and not at every try.
                producer.partitionsFor(send.topic());
                known.add(send.topic());
            }
        } catch (RuntimeException e) {
            return refused(send, e);
        }
        if (!send.run().enter(this)) {
            send.failed(KafkaFailures.behindAFailure(send.topic()));
            return Offer.TAKEN;
        }
        Handover handover = new Handover(send);
        send.handedOver();
        unanswered.add(send);
        try {
            var unused = producer.send(send.record(), handover);
        } catch (RuntimeException e) {
            unanswered.remove(send);
            send.run().leave();
            return refused(send, e);
        }
        return handover.returned();
    }

    private Offer refused(Send send, RuntimeException error) {
        if (error instanceof TimeoutException && mayPass(error)) {
            known.remove(send.topic());
            send.blocked(error);
            return Offer.LATER;
        }
        if (ending != null) {
            return Offer.CLOSED;
        }
        // Thrown, not answered: the producer itself is in an error state, or was closed behind our back.
        if (error.getClass() == KafkaException.class || error instanceof IllegalStateException) {
            onBroken.accept(this);
        }
        send.failed(judged(send, error));
        return Offer.TAKEN;
    }

    /** A topic that is unknown may appear; one that we may not write to stays so until somebody acts. */
    private static boolean mayPass(RuntimeException timeout) {
        return timeout.getCause() == null || timeout.getCause() instanceof RetriableException;
    }

    private PublishException judged(Send send, Exception error) {
        if (KafkaFailures.endsProducer(error)) {
            onBroken.accept(this);
        }
        Function<String, ? extends PublishException> end = ending;
        // A client that is closed by force ends its sends with a plain KafkaException: there our reason says more.
        return end != null && !(error instanceof ApiException)
                ? end.apply(send.topic())
                : failures.of(error, send.topic());
    }

    /**
     * Has the producer send nothing more. Called by its own thread, between two requests: what it has not sent by now
     * never goes out.
     */
    private void stop() {
        if (stopped) {
            return;
        }
        stopped = true;
        if (ending == null) {
            ending = KafkaFailures::behindAFailure;
            onBroken.accept(this);
        }
        producer.close(Duration.ZERO);
    }

    /** Whether some send got no answer for this long. */
    boolean inDoubt(long nanos, long now) {
        return unanswered.stream().anyMatch(send -> send.unansweredFor(nanos, now));
    }

    /** Whether nothing is left to wait for: every send is answered, or got no answer for this long. */
    boolean spent(long nanos, long now) {
        return unanswered.stream().allMatch(send -> send.unansweredFor(nanos, now));
    }

    /** Whether it has ever delivered anything. */
    boolean hasDelivered() {
        return delivered;
    }

    /**
     * Ends the producer, and after it every send that is still without an answer: only then can none of them be sent
     * any more behind the back of the next try.
     */
    void close(Duration grace, Function<String, ? extends PublishException> reason) {
        if (ending == null) {
            ending = reason;
        }
        boolean interrupted = Thread.interrupted();
        try {
            producer.close(unanswered.isEmpty() ? Duration.ZERO : grace);
        } catch (InterruptException e) {
            interrupted = true;
        } finally {
            unanswered.forEach(send -> send.failed(reason.apply(send.topic())));
            unanswered.clear();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The producer's answer to one offer; while {@code send()} is still running it is a refusal to take the record. */
    private final class Handover implements Callback {
        private final Send send;
        private final Thread caller = Thread.currentThread();
        private boolean returned;
        private Offer offer = Offer.TAKEN;

        Handover(Send send) {
            this.send = send;
        }

        @Override
        public void onCompletion(RecordMetadata where, @Nullable Exception error) {
            unanswered.remove(send);
            if (error == null) {
                send.run().leave();
                delivered = true;
                send.taken(where);
            } else if (Thread.currentThread() == caller && !returned && error instanceof RuntimeException refusal) {
                send.run().leave();
                offer = refused(send, refusal);
            } else {
                failed(error);
            }
        }

        private void failed(Exception error) {
            // Ended before it counts as answered: with none unanswered, the run could go on with another producer.
            send.run().end();
            send.run().leave();
            // Judged before the stop: afterwards every failure of this producer means that it was stopped.
            PublishException failure = judged(send, error);
            if (send.run().hasUnanswered()) {
                stop();
            }
            send.failed(failure);
        }

        Offer returned() {
            returned = true;
            return offer;
        }
    }
}
