// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Where events go.
 *
 * <p>The engine never hands over an event before the one ahead of it, of the same key, was taken; so a publisher need not
 * think about order, unless it offers a {@link Run}. It must be thread-safe: several loops of a relay share one.
 */
public interface Publisher extends AutoCloseable {

    /**
     * Starts to deliver one event and returns at once; it must not block on the network.
     *
     * <p>The stage completes normally when the destination has taken the event for good. It completes exceptionally with
     *
     * <ul>
     *   <li>{@link PermanentFailureException}: this event will never be accepted: dead at once;
     *   <li>{@link DestinationDownException}: not the event's fault: no attempt is counted, its stream waits;
     *   <li>{@link UnknownOutcomeException}: it may have had its effect: not repeated until somebody has found out;
     *   <li>{@link NotSentException}: nobody's fault: no attempt is counted, it is read and sent again;
     *   <li>anything else: this attempt failed: counted and retried by the {@link RetryPolicy}.
     * </ul>
     *
     * <p>A publisher that throws is treated as one that returned a failed stage.
     */
    CompletionStage<?> publish(OutboxEvent event);

    /**
     * As {@link #publish}, for a publisher that must know more than the event; by default it need not. One that has settled
     * the event itself, in the database that it came from, completes the stage with {@link Settled}.
     */
    default CompletionStage<?> deliver(Delivery delivery) {
        return publish(delivery.event());
    }

    /** The answer of a publisher that has removed the event from its table: the relay only forgets it. */
    enum Settled {
        SETTLED
    }

    /** What the engine must know of this publisher. */
    default Traits traits() {
        return Traits.ofDestination();
    }

    /**
     * What a publisher is like.
     *
     * @param mostUnderWay so many events may be handed to it before one is answered, for all loops of a relay together
     * @param answersWithin it answers everything by itself within this time; a relay waits no less, whatever its own limit
     * @param isOneDestination whether a stream goes to one place, so that many refusals in a row say something about it
     */
    record Traits(int mostUnderWay, Duration answersWithin, boolean isOneDestination) {
        public Traits {
            if (mostUnderWay < 1) {
                throw new IllegalArgumentException("mostUnderWay is " + mostUnderWay + ". Give 1 or more.");
            }
        }

        /** Any number under way, no promise about time. */
        public static Traits ofDestination() {
            return new Traits(Integer.MAX_VALUE, Duration.ZERO, true);
        }
    }

    /**
     * Begins a run of events of one key, if this publisher can have several of them under way; by default it cannot, and
     * {@link #publish} gets them one at a time.
     */
    default Optional<Run> run() {
        return Optional.empty();
    }

    /**
     * Events of one key, handed over one behind the other without waiting for answers, by one thread.
     *
     * <p>Once one of them has failed, nothing behind it may be delivered by this run: not what comes later, and not what
     * was handed over already. It is answered with a failure too, best with {@link NotSentException}. So what a run
     * delivers has no gap, and first deliveries keep their order even where an earlier run is still in doubt. After a
     * failure the engine waits until all of a run is answered, and goes on with a new one.
     */
    @FunctionalInterface
    interface Run {
        /** As {@link Publisher#publish}, for the next event of this run. */
        CompletionStage<?> publish(OutboxEvent event);
    }

    /**
     * A relay that stops will not wait much longer for what is under way: a publisher that can end it does so, and answers.
     * What is answered in time is still written; what is not is sent again, by another relay. By default nothing happens.
     *
     * @param left for how long the relay hears answers
     */
    default void wrapUp(Duration left) {}

    /** Ends what it holds open. Called once by the relay that was given it, after the last answer or the stop time. */
    @Override
    default void close() {}
}
