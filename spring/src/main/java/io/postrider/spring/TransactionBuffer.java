// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The events of one transaction until they are written; bound to its thread. */
final class TransactionBuffer implements TransactionSynchronization {
    private static final Logger log = LoggerFactory.getLogger(TransactionBuffer.class);

    /** Where the events of a transaction go. */
    interface Store {
        /** Writes them in the current transaction. */
        void write(List<OutboxEvent> events);

        /** Called after the commit of a transaction in which something was written. */
        void committed();
    }

    private enum State {
        COLLECTING,
        WRITING_AT_ONCE,
        COMMITTED
    }

    private final Object owner;
    private final Store store;
    private final List<OutboxEvent> events = new ArrayList<>();
    private final IdentityHashMap<Object, Integer> savepoints = new IdentityHashMap<>();
    private State state;
    private int written;

    private TransactionBuffer(Object owner, Store store, State state) {
        this.owner = owner;
        this.store = store;
        this.state = state;
    }

    /** The buffer that the current transaction has for this owner. */
    static @Nullable TransactionBuffer of(Object owner) {
        return (TransactionBuffer) TransactionSynchronizationManager.getResource(owner);
    }

    /** Gives the current transaction a buffer that keeps events until the commit. */
    static TransactionBuffer collecting(Object owner, Store store) {
        return bound(new TransactionBuffer(owner, store, State.COLLECTING));
    }

    /** Gives the current transaction a buffer that keeps nothing. */
    static TransactionBuffer writingAtOnce(Object owner, Store store) {
        return bound(new TransactionBuffer(owner, store, State.WRITING_AT_ONCE));
    }

    private static TransactionBuffer bound(TransactionBuffer buffer) {
        TransactionSynchronizationManager.bindResource(buffer.owner, buffer);
        TransactionSynchronizationManager.registerSynchronization(buffer);
        TransactionSynchronizationManager.registerSynchronization(buffer.new CommitMark());
        return buffer;
    }

    void add(List<OutboxEvent> added) {
        switch (state) {
            case COLLECTING -> events.addAll(added);
            case WRITING_AT_ONCE -> write(added);
            case COMMITTED -> {
                OutboxEvent first = added.get(0);
                throw new OutboxException("The transaction was committed before event " + first.type() + " (stream "
                        + first.stream() + ") was appended, so the event would not be atomic with your data. Append it"
                        + " before the commit, or in a transaction of its own (REQUIRES_NEW).");
            }
        }
    }

    private void write(List<OutboxEvent> some) {
        store.write(some);
        written += some.size();
    }

    /** As late as possible: what others do before the commit, they do in front of the events. */
    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public void beforeCommit(boolean readOnly) {
        if (!events.isEmpty()) {
            // May append more, from the callbacks of entities.
            PersistenceContexts.flush();
            write(List.copyOf(events));
            events.clear();
        }
        state = State.WRITING_AT_ONCE;
    }

    @Override
    public void savepoint(Object savepoint) {
        savepoints.put(savepoint, events.size());
    }

    @Override
    public void savepointRollback(Object savepoint) {
        // One that is not known is older than this buffer, and so than all its events.
        int kept = savepoints.getOrDefault(savepoint, 0);
        if (kept < events.size()) {
            log.debug("Dropped {} events with a rollback to a savepoint", events.size() - kept);
            events.subList(kept, events.size()).clear();
        }
    }

    @Override
    public void suspend() {
        TransactionSynchronizationManager.unbindResourceIfPossible(owner);
    }

    @Override
    public void resume() {
        TransactionSynchronizationManager.bindResource(owner, this);
    }

    @Override
    public void afterCompletion(int status) {
        state = State.COMMITTED;
        TransactionSynchronizationManager.unbindResourceIfPossible(owner);
        if (status == STATUS_COMMITTED) {
            tellOnce();
        }
        if (status == STATUS_ROLLED_BACK && written + events.size() > 0) {
            log.debug("Dropped {} events with the rollback of their transaction", written + events.size());
        }
        events.clear();
    }

    /** Before all others, so that neither their work nor their failures delay it. */
    private void tellOnce() {
        if (written > 0) {
            written = 0;
            store.committed();
        }
    }

    /** Called before all others after the commit: none of them may append any more. */
    private final class CommitMark implements TransactionSynchronization {
        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }

        @Override
        public void afterCommit() {
            state = State.COMMITTED;
            tellOnce();
        }
    }
}
