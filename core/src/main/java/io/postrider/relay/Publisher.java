// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;
import java.util.concurrent.CompletionStage;

/**
 * Where events go.
 *
 * <p>The engine never has two events of one key in flight, so a publisher need not think about order. It must be
 * thread-safe: several loops of a relay share one.
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
     *   <li>anything else: this attempt failed: counted and retried by the {@link RetryPolicy}.
     * </ul>
     *
     * <p>A publisher that throws is treated as one that returned a failed stage.
     */
    CompletionStage<?> publish(OutboxEvent event);

    /**
     * How many events of one key may be under way at once; 1 unless the publisher keeps their order by itself.
     *
     * <p>More than 1 says: of two events that were handed over one after the other by the same thread, the destination
     * never takes the second unless it has taken the first or refused it for good. Nothing follows an event that failed
     * until all before and behind it are answered; but what was already under way behind an event that the destination
     * then refuses is not called back.
     */
    default int eventsPerKey() {
        return 1;
    }

    /** Ends what it holds open. Called once by the relay that was given it, after the last answer or the stop time. */
    @Override
    default void close() {}
}
