// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Gives every transaction that it applies to its buffer when it begins. Not at the first append: a synchronization that
 * is registered while the transaction commits is not called any more, and its events would be lost without a word. Not to
 * the transaction of another manager inside one that it applies to: what is written there is part of the outer one.
 */
final class Enlistment implements TransactionExecutionListener {
    private final BooleanSupplier applies;
    private final Object owner;
    private final Supplier<TransactionBuffer.Store> stores;

    Enlistment(BooleanSupplier applies, Object owner, Supplier<TransactionBuffer.Store> stores) {
        this.applies = applies;
        this.owner = owner;
        this.stores = stores;
    }

    /** Whether the transaction that begins on this thread finds another one of the same kind, which is not suspended. */
    private final ThreadLocal<Boolean> another = new ThreadLocal<>();

    @Override
    public void beforeBegin(TransactionExecution transaction) {
        another.set(applies.getAsBoolean());
    }

    @Override
    public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
        boolean began = !Boolean.TRUE.equals(another.get());
        another.remove();
        if (failure == null
                && began
                && TransactionSynchronizationManager.isSynchronizationActive()
                && applies.getAsBoolean()
                && TransactionBuffer.of(owner) == null) {
            TransactionBuffer.collecting(owner, stores.get());
        }
    }
}
