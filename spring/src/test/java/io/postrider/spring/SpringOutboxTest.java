// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_NESTED;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_NOT_SUPPORTED;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_REQUIRES_NEW;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.support.TransactionTemplate;

class SpringOutboxTest {
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

    private static List<String> orders() {
        return app.jdbc().queryForList("SELECT id FROM customer_order ORDER BY id", String.class);
    }

    @Test
    void an_event_is_committed_with_the_data_in_the_order_of_appends() {
        app.transaction().executeWithoutResult(tx -> {
            outbox.append(event("First"));
            order("7");
            outbox.append(List.of(event("Second"), event("Third")));
            assertThat(app.stored()).as("kept until the commit").isEmpty();
        });
        assertThat(app.stored()).containsExactly("First", "Second", "Third");
        assertThat(orders()).containsExactly("7");
    }

    @Test
    void a_rollback_takes_the_event_along() {
        app.transaction().executeWithoutResult(tx -> {
            order("7");
            outbox.append(event("Lost"));
            tx.setRollbackOnly();
        });
        assertThat(app.stored()).isEmpty();
        assertThat(orders()).isEmpty();
    }

    @Test
    void without_a_transaction_it_throws_and_says_what_to_do() {
        String message =
                "No transaction is open, so event OrderPlaced (stream order-events) would not be atomic with your"
                        + " data. Call append inside @Transactional, or use TransactionTemplate.";
        assertThatThrownBy(() -> outbox.append(event("OrderPlaced")))
                .isInstanceOf(OutboxException.class)
                .hasMessage(message);
        app.transaction()
                .executeWithoutResult(tx -> app.transaction(PROPAGATION_NOT_SUPPORTED)
                        .executeWithoutResult(none -> assertThatThrownBy(() -> outbox.append(event("OrderPlaced")))
                                .hasMessage(message)));
        assertThat(app.stored()).isEmpty();
    }

    @Test
    void a_read_only_transaction_is_refused_at_the_call() {
        TransactionTemplate readOnly = app.transaction();
        readOnly.setReadOnly(true);
        readOnly.executeWithoutResult(tx -> {
            assertThatThrownBy(() -> outbox.append(event("OrderPlaced")))
                    .hasMessage(
                            "The open transaction is read-only, so event OrderPlaced (stream order-events) cannot be"
                                    + " stored in it. Leave out readOnly = true, or append in a transaction of its own"
                                    + " (REQUIRES_NEW).");
            app.transaction(PROPAGATION_REQUIRES_NEW).executeWithoutResult(own -> outbox.append(event("Audit")));
        });
        assertThat(app.stored()).containsExactly("Audit");
    }

    @Test
    void a_transaction_of_its_own_commits_while_the_outer_one_rolls_back() {
        app.transaction().executeWithoutResult(tx -> {
            outbox.append(event("Outer"));
            app.transaction(PROPAGATION_REQUIRES_NEW).executeWithoutResult(inner -> outbox.append(event("Inner")));
            assertThat(app.stored()).containsExactly("Inner");
            outbox.append(event("Outer2"));
            tx.setRollbackOnly();
        });
        assertThat(app.stored()).containsExactly("Inner");
    }

    @Test
    void a_transaction_of_its_own_rolls_back_while_the_outer_one_commits() {
        app.transaction().executeWithoutResult(tx -> {
            outbox.append(event("Outer"));
            app.transaction(PROPAGATION_REQUIRES_NEW).executeWithoutResult(inner -> {
                outbox.append(event("Inner"));
                inner.setRollbackOnly();
            });
            outbox.append(event("Outer2"));
        });
        assertThat(app.stored()).containsExactly("Outer", "Outer2");
    }

    @Test
    void a_rollback_to_a_savepoint_drops_what_was_appended_behind_it() {
        app.transaction().executeWithoutResult(tx -> {
            outbox.append(event("Before"));
            app.transaction(PROPAGATION_NESTED).executeWithoutResult(nested -> {
                order("nested");
                outbox.append(event("Nested"));
                nested.setRollbackOnly();
            });
            app.transaction(PROPAGATION_NESTED).executeWithoutResult(nested -> outbox.append(event("Kept")));
            Object savepoint = tx.createSavepoint();
            outbox.append(event("ByHand"));
            tx.rollbackToSavepoint(savepoint);
            outbox.append(event("After"));
            tx.rollbackToSavepoint(savepoint);
            outbox.append(event("AfterAgain"));
        });
        assertThat(app.stored()).containsExactly("Before", "Kept", "AfterAgain");
        assertThat(orders()).isEmpty();
    }

    @Test
    void the_first_append_may_stand_behind_a_savepoint() {
        app.transaction().executeWithoutResult(tx -> {
            Object savepoint = tx.createSavepoint();
            outbox.append(event("Dropped"));
            tx.rollbackToSavepoint(savepoint);
        });
        assertThat(app.stored()).isEmpty();
    }

    @Test
    void what_breaks_a_limit_is_refused_at_the_call_and_the_transaction_goes_on() {
        OutboxEvent large = OutboxEvent.of("order-events", "Large")
                .payload(new byte[900 * 1024 + 1])
                .build();
        app.transaction().executeWithoutResult(tx -> {
            assertThatThrownBy(() -> outbox.append(List.of(event("Beside"), large)))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("payload has 921601 bytes and the limit is 921600");
            outbox.append(event("Small"));
        });
        assertThat(app.stored()).containsExactly("Small");
    }

    @Test
    void what_the_database_refuses_rolls_the_transaction_back() {
        app.jdbc()
                .execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                        + " RAISE EXCEPTION 'not today'; END $$; CREATE TRIGGER refuse BEFORE INSERT ON outbox_event"
                        + " FOR EACH ROW WHEN (NEW.event_type = 'Refused') EXECUTE FUNCTION refuse()");
        assertThatThrownBy(() -> app.transaction().executeWithoutResult(tx -> {
                    order("7");
                    outbox.append(event("Refused"));
                }))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("not today");
        assertThat(orders()).isEmpty();
    }

    @Test
    void the_bell_rings_once_for_each_commit_with_events() {
        AtomicInteger rings = new AtomicInteger();
        Runnable deafen = app.bean(SpringOutbox.class).bell().onRing(() -> {
            rings.incrementAndGet();
            throw new IllegalStateException("a hearer that fails does not fail the caller");
        });
        try {
            app.transaction().executeWithoutResult(tx -> {
                outbox.append(event("One"));
                outbox.append(event("Two"));
                assertThat(rings).as("before the commit").hasValue(0);
            });
            app.transaction().executeWithoutResult(tx -> order("silent"));
            app.transaction().executeWithoutResult(tx -> {
                outbox.append(event("Lost"));
                tx.setRollbackOnly();
            });
        } finally {
            deafen.run();
        }
        assertThat(rings).hasValue(1);
        assertThat(app.stored()).containsExactly("One", "Two");
    }
}
