// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.Transactional;

/**
 * T15: Hibernate writes inserts before updates. An event that it inserted would draw its id before its transaction has
 * locked the row that the event is about, and be overtaken; ours is inserted behind everything.
 */
class JpaKeyOrderTest {
    private static final int THREADS = 8;
    private static final int ACCOUNTS = 3;
    private static final int CHANGES_EACH = 100;

    /** In which order the changes of an account really happened: each waits at the row for the one before to commit. */
    private static final String LOG_OF_CHANGES = "CREATE TABLE change (id bigint GENERATED ALWAYS AS IDENTITY, account"
            + " integer, changed_in xid8); CREATE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            + " INSERT INTO change (account, changed_in) VALUES (NEW.id, pg_current_xact_id()); RETURN NEW; END $$;"
            + " CREATE TRIGGER note_change AFTER UPDATE ON account FOR EACH ROW EXECUTE FUNCTION note_change()";

    @Entity(name = "account")
    static class Account {
        @Id
        int id;

        long balance;

        protected Account() {}

        Account(int id) {
            this.id = id;
        }
    }

    static class Accounts {
        private final EntityManager entities;
        private final Outbox outbox;

        Accounts(EntityManager entities, Outbox outbox) {
            this.entities = entities;
            this.outbox = outbox;
        }

        @Transactional
        public void open(int id) {
            entities.persist(new Account(id));
        }

        @Transactional
        public void change(int id) {
            Account account = entities.find(Account.class, id);
            outbox.append(OutboxEvent.of("account-events", "Changed")
                    .aggregate("Account", String.valueOf(id))
                    .build());
            account.balance = ThreadLocalRandom.current().nextLong();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        Accounts accounts(EntityManager entities, Outbox outbox) {
            return new Accounts(entities, outbox);
        }
    }

    @Test
    void events_of_an_account_are_in_the_order_of_its_changes() throws Exception {
        changeAndCheck("postrider.strict-key-order=false");
    }

    @Test
    void with_strict_key_order_too() throws Exception {
        changeAndCheck("postrider.strict-key-order=true");
    }

    /** For {@code ./faults run T15}, whose classpath has no Spring. */
    public static void main(String[] args) {
        try {
            int checked = changeAndCheck("postrider.strict-key-order=false")
                    + changeAndCheck("postrider.strict-key-order=true");
            System.out.println("T15 " + checked + " events, none out of order");
            System.exit(0);
        } catch (Throwable e) {
            e.printStackTrace(System.out);
            System.exit(1);
        }
    }

    /** Returns how many events there were. */
    private static int changeAndCheck(String keyOrder) throws Exception {
        int checked = 0;
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (TestApplication app = TestApplication.run(
                App.class,
                TestApplication.WITHOUT_RELAY,
                keyOrder,
                "spring.jpa.hibernate.ddl-auto=update",
                "spring.jpa.open-in-view=false")) {
            app.jdbc().execute(LOG_OF_CHANGES);
            Accounts accounts = app.bean(Accounts.class);
            for (int id = 0; id < ACCOUNTS; id++) {
                accounts.open(id);
            }
            List<Future<?>> changes = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                changes.add(threads.submit(() -> change(accounts)));
            }
            for (Future<?> change : changes) {
                change.get();
            }
            for (int id = 0; id < ACCOUNTS; id++) {
                List<String> events = transactions(app, "SELECT xmin FROM outbox_event WHERE event_key = '" + id + "'");
                checked += events.size();
                assertThat(events)
                        .as("events of account %s", id)
                        .hasSizeGreaterThan(CHANGES_EACH)
                        .isEqualTo(transactions(app, "SELECT changed_in FROM change WHERE account = " + id));
            }
            return checked;
        } finally {
            threads.shutdownNow();
        }
    }

    private static List<String> transactions(TestApplication app, String sql) {
        return app.jdbc().queryForList(sql + " ORDER BY id", String.class);
    }

    private static void change(Accounts accounts) {
        for (int i = 0; i < CHANGES_EACH; i++) {
            accounts.change(ThreadLocalRandom.current().nextInt(ACCOUNTS));
        }
    }
}
