// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionSynchronizationUtils;

/** Whether an event can be appended in the transaction of this thread, and if not, what to do. */
final class CurrentTransaction {
    private CurrentTransaction() {}

    /** Throws unless a transaction is open that may write; else true. */
    static boolean writable(OutboxEvent event) {
        if (!TransactionSynchronizationManager.isActualTransactionActive()
                || !TransactionSynchronizationManager.isSynchronizationActive()) {
            throw new OutboxException("No transaction is open, so " + named(event)
                    + " would not be atomic with your data. Call append inside @Transactional, or use"
                    + " TransactionTemplate.");
        }
        if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
            throw new OutboxException("The open transaction is read-only, so " + named(event)
                    + " cannot be stored in it. Leave out readOnly = true, or append in a transaction of its own"
                    + " (REQUIRES_NEW).");
        }
        return true;
    }

    /** Throws unless the open transaction is one of the DataSource of the outbox. */
    static void requireOneOf(OwnTransactions own, OutboxEvent event) {
        if (!own.isOpen()) {
            throw new OutboxException("The open transaction is not one of the DataSource that the outbox writes to, so "
                    + named(event) + " would not be atomic with your data. Use the transaction manager of that"
                    + " DataSource, or choose another with postrider.data-source.");
        }
    }

    /**
     * Throws if this thread is in a callback after a commit, when nothing else tells: the transaction still counts as
     * active then, and what is written in it is committed by accident or not at all.
     */
    static void refuseAfterCommit(OutboxEvent event) {
        boolean after = StackWalker.getInstance()
                .walk(frames -> frames.anyMatch(
                        frame -> frame.getClassName().equals(TransactionSynchronizationUtils.class.getName())
                                && frame.getMethodName().equals("invokeAfterCommit")));
        if (after) {
            throw new OutboxException("The transaction was committed before " + named(event)
                    + " was appended, or its transaction manager is unknown to the outbox. Append before the commit,"
                    + " and make the transaction manager a bean.");
        }
    }

    private static String named(OutboxEvent event) {
        return "event " + event.type() + " (stream " + event.stream() + ")";
    }
}
