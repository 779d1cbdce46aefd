// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_REQUIRES_NEW;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Callbacks around the commit, and transactions of others. */
class UnusualTransactionsTest {
    private static TestApplication app;
    private static Outbox outbox;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {}

    @BeforeAll
    static void start() {
        app = TestApplication.run(App.class, TestApplication.WITHOUT_JPA, TestApplication.WITHOUT_RELAY);
        outbox = app.bean(Outbox.class);
        app.jdbc().execute("CREATE TABLE customer_order (id text PRIMARY KEY)");
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    @BeforeEach
    void clear() {
        app.jdbc().execute("DELETE FROM outbox_event; DELETE FROM customer_order");
    }

    private static OutboxEvent event(String type) {
        return OutboxEvent.of("order-events", type)
                .aggregate("Order", 7)
                .json("{}")
                .build();
    }

    private static void order(String id) {
        app.jdbc().update("INSERT INTO customer_order VALUES (?)", id);
    }

    /** Registers work for a phase of the current transaction. */
    private static void on(int order, Runnable beforeCommit, Runnable afterCommit) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public int getOrder() {
                return order;
            }

            @Override
            public void beforeCommit(boolean readOnly) {
                beforeCommit.run();
            }

            @Override
            public void afterCommit() {
                afterCommit.run();
            }
        });
    }

    @Test
    void what_is_appended_while_the_transaction_commits_is_stored() {
        app.transaction().executeWithoutResult(tx -> {
            on(0, () -> outbox.append(event("Early")), () -> {});
            on(Integer.MAX_VALUE, () -> outbox.append(event("Late")), () -> {});
        });
        assertThat(app.stored()).containsExactly("Early", "Late");
    }

    @Test
    void an_event_that_is_appended_inside_a_transaction_of_another_database_goes_with_the_data_outside() {
        var elsewhere = new DataSourceTransactionManager(
                new DriverManagerDataSource(TestApplication.database().url()));
        app.bean(SpringOutbox.class).watch(elsewhere);
        TransactionTemplate inner = new TransactionTemplate(elsewhere);
        app.transaction().executeWithoutResult(outer -> {
            inner.executeWithoutResult(other -> {
                order("kept");
                outbox.append(event("Kept"));
                other.setRollbackOnly();
            });
            outbox.append(event("Last"));
        });
        assertThat(app.stored()).containsExactly("Kept", "Last");
        app.transaction().executeWithoutResult(outer -> {
            inner.executeWithoutResult(other -> outbox.append(event("Dropped")));
            outer.setRollbackOnly();
        });
        assertThat(app.stored()).containsExactly("Kept", "Last");
    }

    @Test
    void who_fails_after_the_commit_does_not_keep_the_relay_from_hearing_of_it() {
        AtomicInteger rings = new AtomicInteger();
        Runnable deafen = app.bean(SpringOutbox.class).bell().onRing(rings::incrementAndGet);
        try {
            assertThatThrownBy(() -> app.transaction().executeWithoutResult(tx -> {
                        outbox.append(event("Stored"));
                        on(0, () -> {}, () -> {
                            throw new IllegalStateException("after the commit");
                        });
                    }))
                    .hasMessage("after the commit");
        } finally {
            deafen.run();
        }
        assertThat(rings).hasValue(1);
        assertThat(app.stored()).containsExactly("Stored");
    }

    @Test
    void what_is_appended_after_the_commit_is_refused_and_not_lost_in_silence() {
        List<Throwable> refused = new ArrayList<>();
        Runnable append = () -> {
            try {
                outbox.append(event("TooLate"));
            } catch (OutboxException e) {
                refused.add(e);
            }
        };
        app.transaction().executeWithoutResult(tx -> {
            on(Integer.MIN_VALUE, () -> {}, append);
            on(Integer.MAX_VALUE, () -> {}, append);
            on(
                    0,
                    () -> {},
                    () -> app.transaction(PROPAGATION_REQUIRES_NEW)
                            .executeWithoutResult(own -> outbox.append(event("OnItsOwn"))));
        });
        assertThat(refused)
                .hasSize(2)
                .allSatisfy(e -> assertThat(e)
                        .hasMessageStartingWith(
                                "The transaction was committed before event TooLate (stream order-events) was"
                                        + " appended"));
        assertThat(app.stored()).containsExactly("OnItsOwn");
    }

    @Test
    void a_transaction_of_another_data_source_is_refused() {
        DataSource other =
                new DriverManagerDataSource(TestApplication.database().url());
        TransactionTemplate elsewhere = new TransactionTemplate(new DataSourceTransactionManager(other));
        elsewhere.executeWithoutResult(tx -> {
            String message = "The open transaction is not one of the DataSource that the outbox writes to, so event"
                    + " OrderPlaced (stream order-events) would not be atomic with your data. Use the transaction"
                    + " manager of that DataSource, or choose another with postrider.data-source.";
            assertThatThrownBy(() -> outbox.append(event("OrderPlaced"))).hasMessage(message);
            order("7"); // looks a connection up, which commits by itself
            assertThatThrownBy(() -> outbox.append(event("OrderPlaced"))).hasMessage(message);
        });
        assertThat(app.stored()).isEmpty();
    }

    @Test
    void a_transaction_manager_that_is_no_bean_works_too() {
        TransactionTemplate own = new TransactionTemplate(new DataSourceTransactionManager(app.bean(DataSource.class)));
        AtomicInteger rings = new AtomicInteger();
        Runnable deafen = app.bean(SpringOutbox.class).bell().onRing(rings::incrementAndGet);
        own.executeWithoutResult(tx -> {
            outbox.append(event("One"));
            Object savepoint = tx.createSavepoint();
            outbox.append(event("Dropped"));
            tx.rollbackToSavepoint(savepoint);
            on(Integer.MAX_VALUE, () -> outbox.append(event("Late")), () -> {});
        });
        deafen.run();
        own.executeWithoutResult(tx -> {
            outbox.append(event("Lost"));
            tx.setRollbackOnly();
        });
        List<Throwable> refused = new ArrayList<>();
        own.executeWithoutResult(tx -> on(0, () -> {}, () -> {
            try {
                outbox.append(event("TooLate"));
            } catch (OutboxException e) {
                refused.add(e);
            }
        }));
        assertThat(app.stored()).containsExactly("One", "Late");
        assertThat(rings).hasValue(1);
        assertThat(refused).hasSize(1);
    }
}
