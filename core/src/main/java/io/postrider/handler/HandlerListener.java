// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

import io.postrider.OutboxEvent;
import java.time.Duration;

/** Told how long handlers take, for a meter per stream and type: by their own threads, so it must be thread-safe. */
@FunctionalInterface
public interface HandlerListener {

    /**
     * One call has ended, or was given up.
     *
     * @param event the event, or the first of a batch
     * @param events how many there were
     * @param done whether it was done, not whether it is settled
     */
    void handled(OutboxEvent event, int events, Duration took, boolean done);
}
