// SPDX-License-Identifier: Apache-2.0
package io.postrider;

import java.util.Collection;
import java.util.List;

/**
 * Where an application leaves its events: in the transaction that also writes its data.
 *
 * <p>Once that transaction commits, the event will be delivered at least once; if it rolls back, also to a savepoint,
 * the event never existed. Appending outside a transaction throws.
 *
 * <p>How it is bound to a transaction, and whether it may be shared between threads, is said by the implementation.
 */
public interface Outbox {

    /**
     * Writes the events in the current transaction, in this order and in one round trip.
     *
     * @throws OutboxException if no transaction is open, an event breaks a limit, or the database refuses it; nothing
     *     has been written then
     */
    void append(Collection<OutboxEvent> events);

    /** Writes one event in the current transaction; the same as appending a list of one. */
    default void append(OutboxEvent event) {
        append(List.of(event));
    }
}
