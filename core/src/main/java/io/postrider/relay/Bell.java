// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rung after a commit, so that the relays of this process look at once instead of at their next poll, or send at once what
 * is handed over to them. Thread-safe; a ring costs a few nanoseconds per relay, never blocks and never throws.
 */
public final class Bell {
    private static final Logger log = LoggerFactory.getLogger(Bell.class);

    private final List<Hearer> hearers = new CopyOnWriteArrayList<>();

    /** Who hears the bell. Called by those who ring: must neither block nor throw. */
    @FunctionalInterface
    public interface Hearer {
        /** Something was committed. */
        void rung();

        /** The relay that would send this event at its commit; empty: the bell is enough. */
        default OptionalLong lessee(OutboxEvent event) {
            return OptionalLong.empty();
        }

        /** These were committed, and some or all of them were leased by the lessee. */
        default void handedOver(List<Handed> events) {
            rung();
        }
    }

    /**
     * An event that was committed just now.
     *
     * @param bytes the size of its payload
     */
    public record Handed(UUID id, int bytes) {}

    /** Says that something was committed. */
    public void ring() {
        hearers.forEach(hearer -> tell(hearer::rung));
    }

    /** Says that these were committed, in this order. */
    public void handOver(List<Handed> events) {
        hearers.forEach(hearer -> tell(() -> hearer.handedOver(events)));
    }

    /** The relay by which this event should be leased when it is inserted, if there is one. */
    public OptionalLong lessee(OutboxEvent event) {
        for (Hearer hearer : hearers) {
            OptionalLong lessee = hearer.lessee(event);
            if (lessee.isPresent()) {
                return lessee;
            }
        }
        return OptionalLong.empty();
    }

    /** Has {@code hearer} called by whoever rings; returns what ends it. */
    public Runnable onRing(Hearer hearer) {
        hearers.add(hearer);
        return () -> hearers.remove(hearer);
    }

    private static void tell(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException e) {
            log.warn("A hearer of the bell failed; polling will find the event", e);
        }
    }
}
