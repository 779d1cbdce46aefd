// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.relay.Publisher;
import io.postrider.spring.autoconfigure.SignalLifecycle;
import io.postrider.testkit.PostgresServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** An application hears of commits in another one. */
class SignalsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    /** What a session that listens has asked last. */
    private static final String LISTENERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            + " AND pid <> pg_backend_pid() AND query LIKE 'SELECT pg_is_in_recovery() OR %'";

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        Publisher publisher() {
            return event -> CompletableFuture.completedFuture(null);
        }
    }

    @Test
    void a_commit_in_one_application_rings_in_the_other() {
        PostgresServer.Database database = TestApplication.database();
        try (TestApplication relay = TestApplication.runOn(database, App.class, TestApplication.WITHOUT_JPA)) {
            await().atMost(PATIENCE)
                    .until(() -> Integer.valueOf(1).equals(relay.jdbc().queryForObject(LISTENERS, Integer.class)));
            try (TestApplication writer = TestApplication.runOn(
                    database, App.class, TestApplication.WITHOUT_JPA, TestApplication.WITHOUT_RELAY)) {
                AtomicInteger rings = new AtomicInteger();
                relay.bean(SpringOutbox.class).bell().onRing(rings::incrementAndGet);
                Outbox outbox = writer.bean(Outbox.class);
                writer.transaction()
                        .executeWithoutResult(
                                tx -> outbox.append(OutboxEvent.of("s", "T").build()));
                await().atMost(PATIENCE).until(() -> rings.get() > 0);
                assertThat(relay.jdbc().queryForObject(LISTENERS, Integer.class))
                        .as("who has no relay need not listen")
                        .isEqualTo(1);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class WithHandler {
        static final class Desk {
            @HandlesEvent(stream = "s", type = "T")
            void handle(OutboxEvent event) {}
        }

        @Bean
        Desk desk() {
            return new Desk();
        }
    }

    @Test
    void workers_hear_too_where_there_is_no_relay() {
        try (TestApplication app = TestApplication.run(
                WithHandler.class,
                TestApplication.WITHOUT_JPA,
                TestApplication.WITHOUT_RELAY,
                "postrider.workers.w.streams=s")) {
            await().atMost(PATIENCE)
                    .until(() -> Integer.valueOf(1).equals(app.jdbc().queryForObject(LISTENERS, Integer.class)));
        }
    }

    @Test
    void without_the_wish_there_are_none() {
        try (TestApplication app =
                TestApplication.run(App.class, TestApplication.WITHOUT_JPA, "postrider.relay.signals=false")) {
            assertThat(app.context().getBeanProvider(SignalLifecycle.class).getIfAvailable())
                    .isNull();
        }
    }
}
