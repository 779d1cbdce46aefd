// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_NESTED;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.spring.autoconfigure.RelayLifecycle;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.annotation.DirtiesContext.HierarchyMode;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.TestContextManager;

class RecordingOutboxTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @AutoConfigureRecordingOutbox
    static class App {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class PlainApp {}

    /** A test as applications have them; run by hand, since Spring's extension is not needed for anything else here. */
    @SpringBootTest(classes = PlainApp.class, properties = TestApplication.WITHOUT_JPA)
    @AutoConfigureRecordingOutbox
    static class TestOfAnApplication {
        @Autowired
        Outbox outbox;

        @Autowired
        RecordingOutbox recorded;

        @DynamicPropertySource
        static void database(DynamicPropertyRegistry registry) {
            registry.add("spring.datasource.url", TestApplication.database()::url);
        }
    }

    @Test
    void it_stands_beside_spring_boot_test() throws Exception {
        TestOfAnApplication test = new TestOfAnApplication();
        TestContextManager manager = new TestContextManager(TestOfAnApplication.class);
        manager.prepareTestInstance(test);
        assertThat(test.outbox).isSameAs(test.recorded);
        manager.getTestContext().markApplicationContextDirty(HierarchyMode.CURRENT_LEVEL);
    }

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
            for (String type : List.of("First", "Twin")) {
                app.transaction()
                        .executeWithoutResult(tx -> outbox.append(
                                OutboxEvent.of("jobs", type).dedupKey("nightly").build()));
            }
            assertThat(recorded.committed("jobs")).extracting(OutboxEvent::type).containsExactly("First");
            assertThatThrownBy(() -> outbox.append(event("Alone")))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageStartingWith("No transaction is open");

            assertThat(recorded.committed("order-events"))
                    .extracting(OutboxEvent::type)
                    .containsExactly("Kept");
            assertThat(recorded.appended())
                    .extracting(OutboxEvent::type)
                    .containsExactly("Kept", "Nested", "Lost", "First", "Twin");
            assertThat(app.context().getBeanNamesForType(RelayLifecycle.class)).isEmpty();
            assertThat(app.jdbc().queryForObject("SELECT to_regclass('outbox_event') IS NULL", Boolean.class))
                    .isTrue();
            recorded.clear();
            assertThat(recorded.appended()).isEmpty();
        }
    }
}
