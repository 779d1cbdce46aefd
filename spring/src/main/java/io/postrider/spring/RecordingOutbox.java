// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * An outbox for tests of an application: keeps what was appended, and what of it was committed, in memory.
 *
 * <p>As the real one, it throws outside a transaction, and forgets what is rolled back, also to a savepoint. Nothing is
 * delivered, so of each stream and dedup key it keeps the first that was committed. Get it
 * with {@link AutoConfigureRecordingOutbox}. Thread-safe.
 */
public final class RecordingOutbox implements Outbox {
    private final List<OutboxEvent> appended = new ArrayList<>();
    private final List<OutboxEvent> committed = new ArrayList<>();

    /** Has savepoints of this manager's transactions honoured. */
    public void watch(ConfigurableTransactionManager manager) {
        manager.addListener(
                new Enlistment(TransactionSynchronizationManager::isActualTransactionActive, this, Memory::new));
    }

    @Override
    public void append(Collection<OutboxEvent> events) {
        if (events.isEmpty() || !CurrentTransaction.writable(events.iterator().next())) {
            return;
        }
        TransactionBuffer buffer = TransactionBuffer.of(this);
        if (buffer == null) {
            CurrentTransaction.refuseAfterCommit(events.iterator().next());
            buffer = TransactionBuffer.writingAtOnce(this, new Memory());
        }
        buffer.add(List.copyOf(events));
        synchronized (this) {
            appended.addAll(events);
        }
    }

    /** Everything that was appended, also what was rolled back later. */
    public synchronized List<OutboxEvent> appended() {
        return List.copyOf(appended);
    }

    /** What was appended in transactions that committed: what would be delivered. */
    public synchronized List<OutboxEvent> committed() {
        return List.copyOf(committed);
    }

    /** What was committed to this stream. */
    public List<OutboxEvent> committed(String stream) {
        return committed().stream()
                .filter(event -> event.stream().equals(stream))
                .toList();
    }

    /** Forgets everything; for between two tests. */
    public synchronized void clear() {
        appended.clear();
        committed.clear();
    }

    private boolean isTwin(OutboxEvent event) {
        return event.dedupKey().isPresent()
                && committed.stream()
                        .anyMatch(other -> other.stream().equals(event.stream())
                                && other.dedupKey().equals(event.dedupKey()));
    }

    /** What one transaction wrote. */
    private final class Memory implements TransactionBuffer.Store {
        private final List<OutboxEvent> written = new ArrayList<>();

        @Override
        public void write(List<OutboxEvent> events) {
            written.addAll(events);
        }

        @Override
        public void committed() {
            synchronized (RecordingOutbox.this) {
                written.stream().filter(event -> !isTwin(event)).forEach(committed::add);
            }
        }
    }
}
