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

    /** Ends what it holds open. Called once by the relay that was given it, after the last answer or the stop time. */
    @Override
    default void close() {}
}
