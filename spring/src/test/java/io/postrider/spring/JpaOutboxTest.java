// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.inbox.Inbox;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PrePersist;
import jakarta.persistence.Table;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

class JpaOutboxTest {
    private static TestApplication app;
    private static Outbox outbox;
    private static Orders orders;
    private static Consumer<CustomerOrder> onPersist = order -> {};

    @Entity
    @Table(name = "customer_order")
    static class CustomerOrder {
        @Id
        String id;

        String state;

        protected CustomerOrder() {}

        CustomerOrder(String id, String state) {
            this.id = id;
            this.state = state;
        }

        @PrePersist
        void persisted() {
            onPersist.accept(this);
        }
    }

    static class Orders {
        private final EntityManager entities;
        private final Outbox outbox;

        Orders(EntityManager entities, Outbox outbox) {
            this.entities = entities;
            this.outbox = outbox;
        }

        @Transactional
        public void place(String id, String state) {
            outbox.append(event("OrderPlaced", id));
            entities.persist(new CustomerOrder(id, state));
        }

        @Transactional
        public void change(String id, String state) {
            entities.find(CustomerOrder.class, id).state = state;
            outbox.append(event("OrderChanged", id));
        }

        @Transactional
        public void fail(String id) {
            entities.persist(new CustomerOrder(id, "new"));
            outbox.append(event("OrderPlaced", id));
            throw new IllegalStateException("no");
        }

        @Transactional
        public void placeQuietly(String id) {
            entities.persist(new CustomerOrder(id, "new"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        Orders orders(EntityManager entities, Outbox outbox) {
            return new Orders(entities, outbox);
        }
    }

    private static OutboxEvent event(String type, String id) {
        return OutboxEvent.of("order-events", type).aggregate("Order", id).build();
    }

    @BeforeAll
    static void start() {
        app = TestApplication.run(
                App.class,
                TestApplication.WITHOUT_RELAY,
                "spring.jpa.hibernate.ddl-auto=update",
                "spring.jpa.open-in-view=false");
        outbox = app.bean(Outbox.class);
        orders = app.bean(Orders.class);
        // An event that is inserted before the row it is about is refused.
        app.jdbc()
                .execute("CREATE FUNCTION behind_order() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                        + " IF NOT EXISTS (SELECT FROM customer_order WHERE id = NEW.aggregate_id"
                        + "   AND (NEW.event_type <> 'OrderChanged' OR state = 'changed'))"
                        + " THEN RAISE EXCEPTION 'event before its order'; END IF; RETURN NEW; END $$;"
                        + " CREATE TRIGGER behind_order BEFORE INSERT ON outbox_event FOR EACH ROW EXECUTE FUNCTION"
                        + " behind_order()");
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    @BeforeEach
    void clear() {
        onPersist = order -> {};
        app.jdbc().execute("DELETE FROM outbox_event; DELETE FROM customer_order");
    }

    @Test
    void events_are_inserted_behind_what_jpa_writes() {
        orders.place("7", "new");
        orders.change("7", "changed");
        assertThat(app.stored()).containsExactly("OrderPlaced", "OrderChanged");
    }

    @Test
    void an_exception_takes_entity_and_event_along() {
        assertThatThrownBy(() -> orders.fail("7")).isInstanceOf(IllegalStateException.class);
        assertThat(app.stored()).isEmpty();
        assertThat(app.jdbc().queryForObject("SELECT count(*) FROM customer_order", Integer.class))
                .isZero();
    }

    @Test
    void what_jpa_cannot_write_is_thrown_as_a_commit_would_throw_it() {
        orders.place("7", "new");
        assertThatThrownBy(() -> orders.place("7", "again")).isInstanceOf(DataIntegrityViolationException.class);
        assertThat(app.stored()).containsExactly("OrderPlaced");
    }

    @Test
    void a_callback_of_an_entity_may_append() {
        onPersist = order -> outbox.append(event("Persisted", order.id));
        orders.place("8", "new");
        assertThat(app.stored()).containsExactly("OrderPlaced", "Persisted");
        orders.placeQuietly("9");
        assertThat(app.stored()).containsExactly("OrderPlaced", "Persisted", "Persisted");
    }

    @Test
    void a_transaction_of_jpa_is_one_of_the_data_source_also_if_its_manager_is_no_bean() {
        UUID event = UUID.randomUUID();
        Inbox inbox = app.bean(Inbox.class);
        orders.placeQuietly("7");
        new TransactionTemplate(new JpaTransactionManager(app.bean(EntityManagerFactory.class)))
                .executeWithoutResult(tx -> {
                    outbox.append(event("OrderPaid", "7"));
                    inbox.once("billing", event, () -> {});
                });
        assertThat(app.stored()).containsExactly("OrderPaid");
        app.transaction()
                .executeWithoutResult(
                        tx -> assertThat(inbox.claim("billing", List.of(event))).isEmpty());
    }
}
