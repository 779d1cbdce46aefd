// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.handler.Handlers;
import io.postrider.jdbc.SameTransaction;
import java.sql.PreparedStatement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

/** Handlers as a bean, instead of Kafka, with connections from the application's pool. */
class HandlersInApplicationTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        Handlers handlers(DataSource dataSource) {
            SameTransaction once = SameTransaction.of(dataSource).name("booking");
            return Handlers.builder()
                    .concurrency(4)
                    .on("orders", "Placed")
                    .settle(once.run(payload -> payload, (payload, tx) -> {
                        try (PreparedStatement insert =
                                tx.connection().prepareStatement("INSERT INTO booking VALUES (?)")) {
                            insert.setObject(1, tx.context().event().id());
                            insert.executeUpdate();
                        }
                    }))
                    .build();
        }
    }

    @Test
    void an_event_is_settled_in_the_transaction_of_its_handler() {
        try (TestApplication app = TestApplication.run(App.class, TestApplication.WITHOUT_JPA)) {
            JdbcTemplate jdbc = new JdbcTemplate(app.bean(DataSource.class));
            jdbc.execute("CREATE TABLE booking (event_id uuid)");
            Outbox outbox = app.bean(Outbox.class);
            for (int i = 0; i < 50; i++) {
                String key = "k" + i % 10;
                app.transaction()
                        .executeWithoutResult(tx -> outbox.append(OutboxEvent.of("orders", "Placed")
                                .key(key)
                                .json("{}")
                                .build()));
            }
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(app.stored()).isEmpty());
            assertThat(jdbc.queryForList(
                            "SELECT count(*) || ' ' || count(DISTINCT event_id) FROM booking", String.class))
                    .containsExactly("50 50");
            assertThat(jdbc.queryForList("SELECT DISTINCT settled_by FROM outbox_history", String.class))
                    .containsExactly("booking");
        }
    }
}
