// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.spring.autoconfigure.RelayLifecycle;
import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.testkit.DeliveryLog;
import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.KafkaTap;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.common.utils.AppInfoParser;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** With a DataSource and Kafka's address, and nothing else. */
class RelayInApplicationTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    private static KafkaServer kafka;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {}

    @BeforeAll
    static void start() {
        kafka = KafkaServer.start();
    }

    @AfterAll
    static void stop() {
        kafka.close();
    }

    private static void append(TestApplication app, String stream, String... types) {
        Outbox outbox = app.bean(Outbox.class);
        app.transaction()
                .executeWithoutResult(tx -> List.of(types)
                        .forEach(type -> outbox.append(
                                OutboxEvent.of(stream, type).key("k").json("{}").build())));
    }

    @Test
    void the_build_tests_the_line_it_says() {
        assertThat(SpringBootVersion.getVersion()).startsWith(System.getProperty("spring-boot.line") + ".");
        assertThat(AppInfoParser.getVersion()).startsWith("4.");
    }

    @Test
    void what_is_committed_arrives_without_any_setting_of_its_own() {
        try (DeliveryLog log = DeliveryLog.inMemory();
                KafkaTap tap = KafkaTap.start(kafka.bootstrapServers(), log, "plain-events");
                TestApplication app = TestApplication.run(
                        App.class,
                        TestApplication.WITHOUT_JPA,
                        "spring.kafka.bootstrap-servers=" + kafka.bootstrapServers())) {
            append(app, "plain-events", "One", "Two");
            tap.awaitDistinct(2, SOON);
            await().untilAsserted(() -> assertThat(app.stored()).isEmpty());
            // Others may have one for a moment; it keeps those that it has.
            await().untilAsserted(() -> assertThat(app.bean(HikariDataSource.class)
                            .getHikariPoolMXBean()
                            .getActiveConnections())
                    .as("the relay has connections of its own")
                    .isZero());
            assertThat(log.size()).isEqualTo(2);
            await().untilAsserted(() -> assertThat(sentAtTheirCommit(app)).isEqualTo(2));
        }
    }

    @Test
    void events_are_sent_at_their_commit_once_per_transaction_and_only_if_that_is_wanted() {
        for (boolean wanted : new boolean[] {true, false}) {
            try (DeliveryLog log = DeliveryLog.inMemory();
                    KafkaTap tap = KafkaTap.start(kafka.bootstrapServers(), log, "commit-events-" + wanted);
                    TestApplication app = TestApplication.run(
                            App.class,
                            TestApplication.WITHOUT_JPA,
                            "postrider.relay.publish-on-commit=" + wanted,
                            "spring.kafka.bootstrap-servers=" + kafka.bootstrapServers())) {
                String stream = "commit-events-" + wanted;
                TransactionTemplate inner = new TransactionTemplate(
                        app.bean(PlatformTransactionManager.class),
                        new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
                Outbox outbox = app.bean(Outbox.class);
                app.transaction().executeWithoutResult(outer -> {
                    append(app, stream, "Outer");
                    inner.executeWithoutResult(
                            own -> outbox.append(OutboxEvent.of(stream, "Inner").build()));
                    Object savepoint = outer.createSavepoint();
                    append(app, stream, "Ghost");
                    outer.rollbackToSavepoint(savepoint);
                });
                app.transaction().executeWithoutResult(tx -> {
                    append(app, stream, "Ghost");
                    tx.setRollbackOnly();
                });
                append(app, stream, "Last");
                tap.awaitDistinct(3, SOON);
                await().untilAsserted(() -> assertThat(app.stored()).isEmpty());
                assertThat(log.size()).isEqualTo(3);
                await().untilAsserted(() -> assertThat(sentAtTheirCommit(app)).isEqualTo(wanted ? 3 : 0));
            }
        }
    }

    private static long sentAtTheirCommit(TestApplication app) {
        return app.bean(RelayLifecycle.class).relay().orElseThrow().publishedOnCommitCount();
    }

    @Test
    void a_stream_goes_to_its_topic_with_its_settings_and_through_the_pool_of_the_application() {
        try (DeliveryLog log = DeliveryLog.inMemory();
                KafkaTap tap = KafkaTap.start(kafka.bootstrapServers(), log, "mapped.v1");
                TestApplication app = TestApplication.run(
                        App.class,
                        TestApplication.WITHOUT_JPA,
                        "spring.kafka.bootstrap-servers=127.0.0.1:9",
                        "spring.kafka.producer.acks=1",
                        "spring.kafka.producer.properties.enable.idempotence=false",
                        "postrider.kafka.bootstrap-servers=" + kafka.bootstrapServers(),
                        "postrider.kafka.format=cloud-events",
                        "postrider.kafka.cloud-events-source=/letters",
                        "postrider.streams.mapped-events.topic=mapped.v1",
                        "postrider.streams.[other.events].on-dead=skip",
                        "postrider.streams.[other.events].history=off",
                        "spring.main.lazy-initialization=true",
                        "postrider.relay.own-connections=false",
                        "postrider.relay.name=post-office",
                        "postrider.relay.loops=2",
                        "postrider.schema.name=letters")) {
            append(app, "mapped-events", "One");
            tap.awaitDistinct(1, SOON);
            assertThat(app.bean(KafkaPublisher.class)).asString().contains("CloudEvents of /letters");
            assertThat(app.jdbc().queryForList("SELECT name FROM letters.outbox_relay", String.class))
                    .containsExactly("post-office");
            assertThat(app.jdbc()
                            .queryForMap("SELECT on_dead, history FROM letters.outbox_stream WHERE stream ="
                                    + " 'other.events'"))
                    .containsEntry("on_dead", "SKIP")
                    .containsEntry("history", "OFF");
            await().untilAsserted(() -> assertThat(app.bean(HikariDataSource.class)
                            .getHikariPoolMXBean()
                            .getActiveConnections())
                    .isGreaterThanOrEqualTo(3));
        }
    }

    @Test
    void a_context_can_be_stopped_and_started_and_leaves_its_place_when_it_stops() {
        var database = TestApplication.database();
        try (DeliveryLog log = DeliveryLog.inMemory();
                KafkaTap tap = KafkaTap.start(kafka.bootstrapServers(), log, "again-events")) {
            TestApplication app = TestApplication.runOn(
                    database,
                    App.class,
                    TestApplication.WITHOUT_JPA,
                    "spring.kafka.bootstrap-servers=" + kafka.bootstrapServers());
            RelayLifecycle relay = app.bean(RelayLifecycle.class);
            assertThat(relay.isRunning()).isTrue();

            relay.stop();
            assertThat(app.jdbc().queryForObject("SELECT count(*) FROM outbox_relay", Integer.class))
                    .isZero();
            append(app, "again-events", "While");
            assertThat(app.stored()).containsExactly("While");

            relay.start();
            tap.awaitDistinct(1, SOON);
            app.close();
            assertThat(relay.isRunning()).isFalse();
            assertThat(log.size()).isEqualTo(1);
        }
    }

    @Test
    void an_application_starts_without_its_relay_and_delivers_when_that_can_begin() {
        var database = TestApplication.database();
        String[] settings = {
            TestApplication.WITHOUT_JPA,
            "spring.datasource.url=" + database.url(),
            "spring.kafka.bootstrap-servers=" + kafka.bootstrapServers(),
            "postrider.relay.name=patient",
            "postrider.schema.mode=none"
        };
        try (DeliveryLog log = DeliveryLog.inMemory();
                KafkaTap tap = KafkaTap.start(kafka.bootstrapServers(), log, "patient-events");
                TestApplication app = TestApplication.start(WebApplicationType.NONE, App.class, settings)) {
            RelayLifecycle relay = app.bean(RelayLifecycle.class);
            // There are no tables yet.
            assertThat(relay.isRunning()).isTrue();
            assertThat(relay.relay()).isEmpty();

            Schema.of(database.dataSource()).apply(SchemaMode.MIGRATE);
            append(app, "patient-events", "Early");
            tap.awaitDistinct(1, SOON);
            await().untilAsserted(() -> assertThat(relay.relay()).isPresent());
            assertThat(Thread.getAllStackTraces().keySet())
                    .as("an application without a web server lives as long as its relay")
                    .anyMatch(thread -> thread.getName().startsWith("postrider-patient") && !thread.isDaemon());
        }
    }

    @Test
    void a_relay_that_never_began_does_not_keep_its_application_from_stopping() {
        TestApplication app = TestApplication.start(
                WebApplicationType.NONE,
                App.class,
                TestApplication.WITHOUT_JPA,
                "spring.datasource.url=" + TestApplication.database().url(),
                "spring.kafka.bootstrap-servers=127.0.0.1:9",
                "spring.datasource.hikari.maximum-pool-size=1",
                "postrider.relay.name=nowhere",
                "postrider.schema.mode=none");
        RelayLifecycle relay = app.bean(RelayLifecycle.class);
        // The connection on which it has begun to try.
        await().until(() -> Objects.equals(
                1,
                app.jdbc()
                        .queryForObject(
                                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                        + " AND pid <> pg_backend_pid()",
                                Integer.class)));
        app.close();
        assertThat(relay.isRunning()).isFalse();
        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("postrider-nowhere")));
    }
}
