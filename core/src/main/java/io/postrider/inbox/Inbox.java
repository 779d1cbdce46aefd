// SPDX-License-Identifier: Apache-2.0
package io.postrider.inbox;

import java.util.Collection;
import java.util.Set;
import java.util.UUID;

/**
 * Where a consumer notes what it has processed: in the transaction that also writes the effects.
 *
 * <p>Once that transaction commits, the event is a duplicate for this consumer; if it rolls back, the event was never seen.
 * Effects in the same database therefore happen once, however often the event is delivered. If another transaction is at
 * the same event, the call waits for its end.
 *
 * <p>How it is bound to a transaction, and whether it may be shared between threads, is said by the implementation.
 */
public interface Inbox {

    /** What is to be done once for an event. */
    @FunctionalInterface
    interface Work<E extends Exception> {
        void run() throws E;
    }

    /**
     * Notes the event and runs the work, unless this consumer has seen the event before. If the work throws, roll the
     * transaction back: committed, the event would count as processed.
     *
     * @param consumer who processes; each consumer sees each event once. 1 to 128 bytes, no control characters
     * @return whether the work was run; false: seen before
     * @throws io.postrider.OutboxException if no transaction is open, the name breaks a rule, or the database refuses; what
     *     the work throws is passed on
     */
    <E extends Exception> boolean once(String consumer, UUID eventId, Work<E> work) throws E;

    /**
     * Notes all these events in one round trip and returns those that this consumer has not seen before, in the order given:
     * process these in the same transaction.
     *
     * @throws io.postrider.OutboxException as {@link #once}
     */
    Set<UUID> claim(String consumer, Collection<UUID> eventIds);
}
