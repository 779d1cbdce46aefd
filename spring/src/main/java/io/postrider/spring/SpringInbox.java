// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import io.postrider.OutboxException;
import io.postrider.inbox.Inbox;
import io.postrider.jdbc.JdbcInbox;
import java.sql.Connection;
import java.util.Collection;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The inbox in the current Spring transaction of its {@link DataSource}.
 *
 * <pre>{@code
 * @Transactional
 * void onOrderPlaced(UUID eventId, Order order) {
 *     inbox.once("billing", eventId, () -> invoices.save(invoice(order)));
 * }
 * }</pre>
 *
 * <p>Outside a transaction, and in one of another DataSource, it throws. Thread-safe.
 */
public final class SpringInbox implements Inbox {
    private final DataSource dataSource;
    private final OwnTransactions own;
    private final JdbcInbox rows;

    /**
     * Creates an inbox for the transactions of this DataSource.
     *
     * @param rows on the same DataSource
     */
    public SpringInbox(DataSource dataSource, JdbcInbox rows) {
        Objects.requireNonNull(dataSource, "dataSource");
        DataSource target =
                dataSource instanceof TransactionAwareDataSourceProxy proxy ? proxy.getTargetDataSource() : null;
        this.dataSource = target == null ? dataSource : target;
        this.own = new OwnTransactions(this.dataSource);
        this.rows = Objects.requireNonNull(rows, "rows");
    }

    @Override
    public <E extends Exception> boolean once(String consumer, UUID eventId, Work<E> work) throws E {
        Connection connection = connection(consumer, eventId);
        try {
            return rows.on(connection).once(consumer, eventId, work);
        } finally {
            DataSourceUtils.releaseConnection(connection, dataSource);
        }
    }

    @Override
    public Set<UUID> claim(String consumer, Collection<UUID> eventIds) {
        if (eventIds.isEmpty()) {
            return Set.of();
        }
        Connection connection = connection(consumer, eventIds.iterator().next());
        try {
            return rows.on(connection).claim(consumer, eventIds);
        } finally {
            DataSourceUtils.releaseConnection(connection, dataSource);
        }
    }

    /** That of the transaction. Any other is committed by nobody, or by itself, whatever becomes of the work. */
    private Connection connection(String consumer, UUID eventId) {
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            throw new OutboxException("No transaction is open, so event " + eventId + " would count as processed by "
                    + consumer + " even if its work fails. Call it inside @Transactional, or use TransactionTemplate.");
        }
        if (!own.isOpen()) {
            throw new OutboxException(
                    "The open transaction is not one of the DataSource that the inbox is in, so it would"
                            + " not be kept that event " + eventId + " was processed by " + consumer
                            + ". Use the transaction"
                            + " manager of that DataSource, or choose another with postrider.data-source.");
        }
        return DataSourceUtils.getConnection(dataSource);
    }
}
