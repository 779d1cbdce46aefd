// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.internal.EventRules;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.relay.Bell;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * An outbox that appends in the current Spring transaction of its {@link DataSource}.
 *
 * <pre>{@code
 * @Transactional
 * void place(Order order) {
 *     orders.save(order);
 *     outbox.append(OutboxEvent.of("order-events", "OrderPlaced").aggregate("Order", order.id()).json(body).build());
 * }
 * }</pre>
 *
 * <p>Events are checked when they are appended, kept until the transaction is about to commit, and inserted then, after
 * JPA's flush and in one round trip: so the rows that a transaction changes are locked before its events get their
 * place in the order of their keys. What was appended after a savepoint goes with a rollback to it. Thread-safe.
 */
public final class SpringOutbox implements Outbox {
    private final DataSource dataSource;
    private final OwnTransactions own;
    private final JdbcOutbox rows;
    private final Settings settings;
    private final EventContext context;
    private final @Nullable KeyLocks locks;
    private final @Nullable AppendObserver observer;

    /**
     * How events are stored.
     *
     * @param maxPayload the largest payload in bytes
     * @param strictKeyOrder whether transactions that append to the same key wait for each other
     */
    public record Settings(TableNames tables, int maxPayload, boolean strictKeyOrder) {

        /** The tables of the search_path, 900 KiB, and no waiting. */
        public static Settings ofDefaults() {
            return new Settings(TableNames.ofDefaults(), JdbcOutbox.DEFAULT_MAX_PAYLOAD, false);
        }
    }

    /**
     * Creates an outbox; {@link #watch} the transaction managers of the DataSource next.
     *
     * @param context what each event carries along besides its own headers
     */
    public SpringOutbox(DataSource dataSource, Settings settings, EventContext context) {
        this(dataSource, settings, context, null);
    }

    /**
     * Creates an outbox whose appends are observed.
     *
     * @param observer asked around each append; null: nobody
     */
    public SpringOutbox(
            DataSource dataSource, Settings settings, EventContext context, @Nullable AppendObserver observer) {
        this.dataSource = asBound(Objects.requireNonNull(dataSource, "dataSource"));
        this.own = new OwnTransactions(this.dataSource);
        this.rows = JdbcOutbox.of(this.dataSource).withTables(settings.tables()).withMaxPayload(settings.maxPayload());
        this.settings = settings;
        this.context = Objects.requireNonNull(context, "context");
        this.locks = settings.strictKeyOrder() ? new KeyLocks() : null;
        this.observer = observer;
    }

    /** Transaction managers bind what is behind this proxy. */
    private static DataSource asBound(DataSource dataSource) {
        DataSource target =
                dataSource instanceof TransactionAwareDataSourceProxy proxy ? proxy.getTargetDataSource() : null;
        return target == null ? dataSource : target;
    }

    /**
     * Has events of this manager's transactions kept until their commit. In a transaction of a manager that is not
     * watched each append is written at once.
     */
    public void watch(ConfigurableTransactionManager manager) {
        manager.addListener(new Enlistment(
                () -> TransactionSynchronizationManager.hasResource(dataSource), this, () -> new Table(rows::join)));
    }

    @Override
    public void append(Collection<OutboxEvent> events) {
        if (events.isEmpty()) {
            return;
        }
        if (observer == null) {
            keep(events);
        } else {
            observer.around(events, () -> keep(events));
        }
    }

    private void keep(Collection<OutboxEvent> events) {
        OutboxEvent first = events.iterator().next();
        TransactionBuffer buffer = CurrentTransaction.writable(first) ? TransactionBuffer.of(this) : null;
        if (buffer == null) {
            CurrentTransaction.requireOneOf(own, first);
            CurrentTransaction.refuseAfterCommit(first);
            buffer = TransactionBuffer.writingAtOnce(this, new Table(this::withoutLease));
        }
        buffer.add(ready(events));
    }

    private List<OutboxEvent> ready(Collection<OutboxEvent> events) {
        Map<String, String> headers = context.headers();
        List<OutboxEvent> ready =
                events.stream().map(event -> AddedHeaders.to(event, headers)).toList();
        ready.forEach(event -> EventRules.checkPayload(event, settings.maxPayload()));
        return ready;
    }

    /** Rung after each commit with events, which are sent at once if the relay that hears it publishes on commit. */
    public Bell bell() {
        return rows.bell();
    }

    /** Where it is not certain that the commit is told in time, nothing is left to be sent at it. */
    private JdbcOutbox.Joined withoutLease(Connection connection) {
        Outbox plain = rows.on(connection);
        return new JdbcOutbox.Joined() {
            @Override
            public void append(Collection<OutboxEvent> events) {
                plain.append(events);
            }

            @Override
            public void committed() {
                rows.committed();
            }
        };
    }

    /** Inserts with the connection of one transaction. */
    private final class Table implements TransactionBuffer.Store {
        private final Function<Connection, JdbcOutbox.Joined> join;
        private JdbcOutbox.@Nullable Joined joined;

        Table(Function<Connection, JdbcOutbox.Joined> join) {
            this.join = join;
        }

        @Override
        public void write(List<OutboxEvent> events) {
            Connection connection = DataSourceUtils.getConnection(dataSource);
            try {
                if (locks != null) {
                    locks.take(connection, events);
                }
                JdbcOutbox.Joined transaction = joined == null ? join.apply(connection) : joined;
                joined = transaction;
                transaction.append(events);
            } finally {
                DataSourceUtils.releaseConnection(connection, dataSource);
            }
        }

        @Override
        public void committed() {
            if (joined != null) {
                joined.committed();
            }
        }
    }
}
