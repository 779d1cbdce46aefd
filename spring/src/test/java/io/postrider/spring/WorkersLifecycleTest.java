// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.handler.Handlers;
import io.postrider.relay.FeedException;
import io.postrider.spring.autoconfigure.RelayLifecycle;
import io.postrider.spring.autoconfigure.WorkersLifecycle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** When workers start and stop, and on which connections they live. */
class WorkersLifecycleTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String[] WORKERS = {
        TestApplication.WITHOUT_JPA,
        TestApplication.WITHOUT_RELAY,
        "postrider.workers.orders.streams=orders",
        "postrider.workers.mails.streams=mails"
    };

    static final class Desk {
        private final List<String> seen = new CopyOnWriteArrayList<>();

        @HandlesEvent(stream = "orders", type = "Placed")
        void placed(OutboxEvent event) {
            seen.add("placed");
        }

        @HandlesEvent(stream = "mails", type = "Confirm")
        void confirm(OutboxEvent event) {
            seen.add("mail");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        Desk desk() {
            return new Desk();
        }
    }

    @Test
    void settings_of_a_workers_stream_are_stored_and_the_relay_leaves_them_to_it() {
        try (TestApplication app = TestApplication.run(
                App.class,
                TestApplication.WITHOUT_JPA,
                "spring.kafka.bootstrap-servers=127.0.0.1:9",
                "postrider.workers.orders.streams=orders",
                "postrider.workers.mails.streams=mails",
                "postrider.streams.orders.on-dead=skip",
                "postrider.streams.elsewhere.history=off")) {
            assertThat(app.jdbc()
                            .queryForList(
                                    "SELECT concat_ws(' ', stream, relay_group, on_dead, history) FROM outbox_stream ORDER BY stream",
                                    String.class))
                    .containsExactly(
                            "elsewhere default HOLD_KEY OFF", "mails mails HOLD_KEY KEEP", "orders orders SKIP KEEP");
        }
    }

    /** Connections to something else, in the phase that those of Spring Data have. */
    static final class Connections implements SmartLifecycle {
        private final List<SmartLifecycle> users = new CopyOnWriteArrayList<>();
        private final List<String> stillUsedBy = new CopyOnWriteArrayList<>();
        private volatile boolean open;

        @Override
        public void start() {
            open = true;
        }

        @Override
        public void stop() {
            open = false;
            users.stream()
                    .filter(SmartLifecycle::isRunning)
                    .forEach(user -> stillUsedBy.add(user.getClass().getSimpleName()));
        }

        @Override
        public boolean isRunning() {
            return open;
        }

        @Override
        public int getPhase() {
            return 0;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class WithConnections {
        @Bean
        Connections connections() {
            return new Connections();
        }

        @Bean
        Desk desk() {
            return new Desk();
        }

        @Bean
        Handlers handlers() {
            return Handlers.builder().on("bills", "Sent").run(event -> {}).build();
        }
    }

    @Test
    void a_start_that_the_database_breaks_off_leaves_nothing_running_and_can_be_repeated() {
        try (TestApplication app = TestApplication.run(App.class, WORKERS)) {
            WorkersLifecycle workers = app.bean(WorkersLifecycle.class);
            workers.stop();
            app.jdbc()
                    .execute("CREATE FUNCTION only_one() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                            + " IF EXISTS (SELECT FROM outbox_relay) THEN RAISE EXCEPTION 'only one'; END IF;"
                            + " RETURN NEW; END $$;"
                            + " CREATE TRIGGER only_one BEFORE INSERT ON outbox_relay FOR EACH ROW EXECUTE FUNCTION"
                            + " only_one()");
            assertThatThrownBy(workers::start).isInstanceOf(FeedException.class);
            assertThat(workers.isRunning()).isFalse();
            assertThat(places(app)).isZero();

            app.jdbc().execute("DROP TRIGGER only_one ON outbox_relay");
            workers.start();
            assertThat(places(app)).isEqualTo(2);
            append(app, OutboxEvent.of("orders", "Placed").build());
            append(app, OutboxEvent.of("mails", "Confirm").build());
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(app.bean(Desk.class).seen).containsExactlyInAnyOrder("placed", "mail"));
        }
    }

    private static int places(TestApplication app) {
        return app.jdbc().queryForList("SELECT name FROM outbox_relay").size();
    }

    @Test
    void workers_have_connections_of_their_own() {
        try (TestApplication app = TestApplication.run(App.class, WORKERS)) {
            append(app, OutboxEvent.of("orders", "Placed").build());
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(app.stored()).isEmpty());
            // Others may have one for a moment; workers keep those that they have.
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(app.bean(HikariDataSource.class)
                                    .getHikariPoolMXBean()
                                    .getActiveConnections())
                            .isZero());
            assertThat(threadsOfTheirPool()).isNotEmpty();
            app.bean(WorkersLifecycle.class).stop();
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(threadsOfTheirPool())
                            .as("closed with them")
                            .isEmpty());
        }
    }

    private static List<String> threadsOfTheirPool() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("postrider-workers"))
                .toList();
    }

    @Test
    void what_handlers_use_is_there_until_they_have_stopped() {
        TestApplication app = TestApplication.run(
                WithConnections.class, TestApplication.WITHOUT_JPA, "postrider.workers.desk.streams=orders,mails");
        Connections connections = app.bean(Connections.class);
        WorkersLifecycle workers = app.bean(WorkersLifecycle.class);
        RelayLifecycle relay = app.bean(RelayLifecycle.class);
        connections.users.addAll(List.of(workers, relay));
        assertThat(workers.isRunning() && relay.isRunning()).isTrue();
        app.close();
        assertThat(connections.stillUsedBy).isEmpty();
        assertThat(workers.getPhase())
                .as("what handlers append is sent by the relay, which stops later")
                .isGreaterThan(relay.getPhase());
    }

    private static void append(TestApplication app, OutboxEvent event) {
        app.transaction().executeWithoutResult(tx -> app.bean(Outbox.class).append(event));
    }
}
