// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import javax.sql.DataSource;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Tells transactions of one DataSource from those of others. A thread has a connection of the DataSource in both, once
 * somebody looked one up; but only that of its own transaction is ever committed.
 */
final class OwnTransactions {
    private final DataSource dataSource;
    private final Begun begun;

    OwnTransactions(DataSource dataSource) {
        this.dataSource = dataSource;
        this.begun = new Begun(dataSource);
    }

    /** Whether this thread is in one. */
    boolean isOpen() {
        if (!(TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder holder)) {
            return false;
        }
        // Managers of JPA bind theirs without this mark, which what was looked up always has.
        return !holder.isSynchronizedWithTransaction() || begun.isOpen();
    }

    /** Spring tells only its managers which connection they began a transaction on. */
    private static final class Begun extends DataSourceTransactionManager {
        private static final long serialVersionUID = 1L;

        Begun(DataSource dataSource) {
            super(dataSource);
        }

        boolean isOpen() {
            return isExistingTransaction(doGetTransaction());
        }
    }
}
