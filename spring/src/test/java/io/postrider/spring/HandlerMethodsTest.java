// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Methods behind proxies of interfaces, and what methods throw. */
class HandlerMethodsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String[] WORKER = {
        TestApplication.WITHOUT_JPA,
        TestApplication.WITHOUT_RELAY,
        "spring.aop.proxy-target-class=false",
        "postrider.workers.orders.streams=orders",
        "postrider.workers.orders.attempts=1"
    };

    record Placed(String order) {}

    interface Booking {
        void book(List<Placed> placed);

        List<String> booked();
    }

    static class Desk implements Booking {
        private final List<String> booked = new CopyOnWriteArrayList<>();

        @Override
        @HandlesEvent(stream = "orders", type = "Placed")
        @Transactional
        public void book(List<Placed> placed) {
            booked.add(placed.get(0).order() + " " + TransactionSynchronizationManager.isActualTransactionActive());
        }

        @Override
        public List<String> booked() {
            return booked;
        }
    }

    static final class Careless {
        @HandlesEvent(stream = "orders", type = "Counted")
        void count(OutboxEvent event) {
            if (event.type().equals("Counted")) {
                throw new AssertionError("one too many");
            }
        }
    }

    static class Hidden implements Runnable {
        @Override
        public void run() {}

        @HandlesEvent(stream = "orders", type = "Placed")
        @Transactional
        public void book(Placed placed) {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        Booking desk() {
            return new Desk();
        }

        @Bean
        Careless careless() {
            return new Careless();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class HiddenApp {
        @Bean
        Runnable hidden() {
            return new Hidden();
        }
    }

    @Test
    void a_method_behind_a_proxy_of_its_interface_is_called_through_it() {
        try (TestApplication app = TestApplication.run(App.class, WORKER)) {
            append(app, "Placed", "[{\"order\":\"a\"}]");
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(app.bean(Booking.class).booked()).containsExactly("a true"));
        }
    }

    @Test
    void a_method_that_a_proxy_hides_is_told_at_start() {
        assertThatThrownBy(() -> TestApplication.run(HiddenApp.class, WORKER))
                .rootCause()
                .isInstanceOf(OutboxException.class)
                .hasMessage("Method public void io.postrider.spring.HandlerMethodsTest$Hidden.book("
                        + "io.postrider.spring.HandlerMethodsTest$Placed) cannot handle events: its bean is a proxy that"
                        + " has the methods of interfaces alone. Add the method to an interface of the bean, or set"
                        + " spring.aop.proxy-target-class=true.");
    }

    @Test
    void an_error_is_told_as_the_method_threw_it() {
        try (TestApplication app = TestApplication.run(App.class, WORKER)) {
            append(app, "Counted", "{}");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(app.jdbc()
                                    .queryForList("SELECT last_error_message FROM outbox_event", String.class))
                            .containsExactly("AssertionError: one too many"));
        }
    }

    private static void append(TestApplication app, String type, String body) {
        app.transaction()
                .executeWithoutResult(tx -> app.bean(Outbox.class)
                        .append(OutboxEvent.of("orders", type).json(body).build()));
    }
}
