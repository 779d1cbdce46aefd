// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_NESTED;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.spring.autoconfigure.RelayLifecycle;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

class RecordingOutboxTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @AutoConfigureRecordingOutbox
    static class App {}

    private static OutboxEvent event(String type) {
        return OutboxEvent.of("order-events", type).build();
    }

    @Test
    void it_keeps_what_was_committed_and_touches_no_table() {
        try (TestApplication app = TestApplication.run(App.class, TestApplication.WITHOUT_JPA)) {
            Outbox outbox = app.bean(Outbox.class);
            RecordingOutbox recorded = app.bean(RecordingOutbox.class);
            app.transaction().executeWithoutResult(tx -> {
                outbox.append(event("Kept"));
                app.transaction(PROPAGATION_NESTED).executeWithoutResult(nested -> {
                    outbox.append(event("Nested"));
                    nested.setRollbackOnly();
                });
                assertThat(recorded.committed()).isEmpty();
            });
            app.transaction().executeWithoutResult(tx -> {
                outbox.append(event("Lost"));
                tx.setRollbackOnly();
            });
            assertThatThrownBy(() -> outbox.append(event("Alone")))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageStartingWith("No transaction is open");

            assertThat(recorded.committed("order-events"))
                    .extracting(OutboxEvent::type)
                    .containsExactly("Kept");
            assertThat(recorded.appended()).extracting(OutboxEvent::type).containsExactly("Kept", "Nested", "Lost");
            assertThat(app.context().getBeanNamesForType(RelayLifecycle.class)).isEmpty();
            assertThat(app.jdbc().queryForObject("SELECT to_regclass('outbox_event') IS NULL", Boolean.class))
                    .isTrue();
            recorded.clear();
            assertThat(recorded.appended()).isEmpty();
        }
    }
}
