// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * An outbox that keeps what was appended, for unit tests of code that writes events.
 *
 * <pre>{@code
 * RecordingOutbox outbox = new RecordingOutbox();
 * new OrderService(outbox).place(order);
 * assertThat(outbox.only().type()).isEqualTo("OrderPlaced");
 * }</pre>
 *
 * <p>It knows nothing of transactions: that an event disappears with a rollback is for a test on a real database.
 * Nothing is delivered, so of each stream and dedup key it keeps the first event. Thread-safe.
 */
public final class RecordingOutbox implements Outbox {
    private final List<OutboxEvent> events = new ArrayList<>();

    /** Creates an empty one. */
    public RecordingOutbox() {}

    @Override
    public synchronized void append(Collection<OutboxEvent> appended) {
        List.copyOf(appended).stream().filter(event -> !isTwin(event)).forEach(events::add);
    }

    private boolean isTwin(OutboxEvent event) {
        return event.dedupKey().isPresent()
                && events.stream()
                        .anyMatch(other -> other.stream().equals(event.stream())
                                && other.dedupKey().equals(event.dedupKey()));
    }

    /** All events in the order in which they were appended. */
    public synchronized List<OutboxEvent> events() {
        return List.copyOf(events);
    }

    /** The events of this stream in the order in which they were appended. */
    public List<OutboxEvent> events(String stream) {
        return events().stream().filter(event -> event.stream().equals(stream)).toList();
    }

    /**
     * The one event that was appended.
     *
     * @throws AssertionError naming the events if there are none or several
     */
    public OutboxEvent only() {
        List<OutboxEvent> all = events();
        if (all.size() != 1) {
            throw new AssertionError("Expected one event in the outbox and found " + all.size() + ": " + all);
        }
        return all.get(0);
    }

    /** Forgets everything. */
    public synchronized void clear() {
        events.clear();
    }
}
