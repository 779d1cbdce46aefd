// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.inbox.Inbox;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.support.TransactionTemplate;

/** Transactions of another DataSource, where connections of the outbox's never commit by themselves. */
class OtherDataSourcesTest {
    private static TestApplication app;
    private static Outbox outbox;
    private static Inbox inbox;

    /** One that is watched and one that is not. */
    private static List<TransactionTemplate> elsewhere;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {}

    @BeforeAll
    static void start() {
        app = TestApplication.run(
                App.class,
                TestApplication.WITHOUT_JPA,
                TestApplication.WITHOUT_RELAY,
                "spring.datasource.hikari.auto-commit=false");
        outbox = app.bean(Outbox.class);
        inbox = app.bean(Inbox.class);
        DataSource other =
                new DriverManagerDataSource(TestApplication.database().url());
        var watched = new DataSourceTransactionManager(other);
        app.bean(SpringOutbox.class).watch(watched);
        elsewhere = List.of(
                new TransactionTemplate(watched), new TransactionTemplate(new DataSourceTransactionManager(other)));
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    @BeforeEach
    void clear() {
        app.transaction().executeWithoutResult(tx -> app.jdbc().execute("DELETE FROM outbox_event"));
    }

    private static OutboxEvent event(String type) {
        return OutboxEvent.of("order-events", type).json("{}").build();
    }

    @Test
    void an_event_is_refused_also_on_a_connection_that_was_looked_up_there() {
        for (TransactionTemplate other : elsewhere) {
            other.executeWithoutResult(tx -> {
                app.jdbc().queryForObject("SELECT 1", Integer.class); // on a connection that nobody commits
                assertThatThrownBy(() -> outbox.append(event("Lost")))
                        .isInstanceOf(OutboxException.class)
                        .hasMessage("The open transaction is not one of the DataSource that the outbox writes to, so"
                                + " event Lost (stream order-events) would not be atomic with your data. Use the"
                                + " transaction manager of that DataSource, or choose another with"
                                + " postrider.data-source.");
            });
        }
        assertThat(app.stored()).isEmpty();
    }

    @Test
    void the_inbox_refuses_it_before_any_work_is_done() {
        UUID event = UUID.randomUUID();
        List<String> runs = new ArrayList<>();
        String message =
                "The open transaction is not one of the DataSource that the inbox is in, so it would not be kept"
                        + " that event " + event
                        + " was processed by billing. Use the transaction manager of that DataSource, or"
                        + " choose another with postrider.data-source.";
        for (TransactionTemplate other : elsewhere) {
            other.executeWithoutResult(tx -> {
                assertThatThrownBy(() -> inbox.once("billing", event, () -> runs.add("work")))
                        .isInstanceOf(OutboxException.class)
                        .hasMessage(message);
                assertThatThrownBy(() -> inbox.claim("billing", List.of(event))).hasMessage(message);
                app.jdbc().queryForObject("SELECT 1", Integer.class);
                assertThatThrownBy(() -> inbox.once("billing", event, () -> runs.add("work")))
                        .hasMessage(message);
            });
        }
        assertThat(runs).isEmpty();
    }

    @Test
    void transactions_of_its_own_are_none_of_others_also_around_them() {
        UUID event = UUID.randomUUID();
        List<String> runs = new ArrayList<>();
        app.transaction().executeWithoutResult(tx -> {
            app.jdbc().queryForObject("SELECT 1", Integer.class);
            outbox.append(event("Plain"));
            inbox.once("billing", event, () -> runs.add("plain"));
        });
        new TransactionTemplate(new DataSourceTransactionManager(app.bean(DataSource.class)))
                .executeWithoutResult(tx -> {
                    outbox.append(event("OfAManagerThatIsNoBean"));
                    inbox.once("billing", event, () -> runs.add("again"));
                });
        for (TransactionTemplate other : elsewhere) {
            app.transaction()
                    .executeWithoutResult(outer -> other.executeWithoutResult(inner -> {
                        outbox.append(event("Around"));
                        inbox.once("billing", UUID.randomUUID(), () -> runs.add("around"));
                    }));
            other.executeWithoutResult(outer -> {
                app.jdbc().queryForObject("SELECT 1", Integer.class);
                app.transaction().executeWithoutResult(inner -> {
                    outbox.append(event("Within"));
                    inbox.once("billing", UUID.randomUUID(), () -> runs.add("within"));
                });
                assertThatThrownBy(() -> outbox.append(event("Behind"))).isInstanceOf(OutboxException.class);
            });
        }
        assertThat(app.stored())
                .containsExactly("Plain", "OfAManagerThatIsNoBean", "Around", "Within", "Around", "Within");
        assertThat(runs).containsExactly("plain", "around", "within", "around", "within");
    }
}
