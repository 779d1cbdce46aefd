// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.postrider.Outbox;
import io.postrider.testkit.PostgresServer;
import java.util.Arrays;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** What an application that cannot start is told, by the analyzers that Spring Boot finds. */
class SetupFailuresTest {
    /** None of them gets far enough to be in another's way. */
    private static final PostgresServer.Database DATABASE = TestApplication.database();

    private static final String KAFKA = "spring.kafka.bootstrap-servers=127.0.0.1:9";

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class TwoDataSources {
        @Bean
        DataSource orders() {
            return new DriverManagerDataSource(DATABASE.url());
        }

        @Bean
        DataSource audit() {
            return new DriverManagerDataSource(DATABASE.url());
        }
    }

    private static FailureAnalysis analysis(Class<?> configuration, String... properties) {
        String[] all = Arrays.copyOf(properties, properties.length + 1);
        all[properties.length] = TestApplication.WITHOUT_JPA;
        Throwable failure = catchThrowable(() -> {
            if (configuration == TwoDataSources.class) {
                TestApplication.runBare(configuration, all).close();
            } else {
                TestApplication.runOn(DATABASE, configuration, all).close();
            }
        });
        assertThat(failure).as("it did not start").isNotNull();
        // Those of Spring Boot that need a context cannot be made here.
        FailureHandler leaveOut = (type, name, why) -> {};
        return SpringFactoriesLoader.forDefaultResourceLocation().load(FailureAnalyzer.class, leaveOut).stream()
                .map(analyzer -> analyze(analyzer, failure))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new AssertionError("nobody understood", failure));
    }

    /** As Spring Boot does it: one that cannot be used is passed over. */
    private static @Nullable FailureAnalysis analyze(FailureAnalyzer analyzer, Throwable failure) {
        try {
            return analyzer.analyze(failure);
        } catch (LinkageError e) {
            return null;
        }
    }

    @Test
    void no_kafka_while_the_relay_is_enabled() {
        FailureAnalysis analysis = analysis(App.class);
        assertThat(analysis.getDescription())
                .isEqualTo(
                        "The relay is enabled and there is nothing to deliver to: no Kafka brokers are set, and there"
                                + " is no Publisher bean.");
        assertThat(analysis.getAction())
                .isEqualTo(
                        "Set spring.kafka.bootstrap-servers or postrider.kafka.bootstrap-servers, add a Publisher bean,"
                                + " or set postrider.relay.enabled=false if another application delivers.");
    }

    @Test
    void several_data_sources_and_no_choice() {
        FailureAnalysis analysis = analysis(TwoDataSources.class, KAFKA);
        assertThat(analysis.getDescription())
                .isEqualTo(
                        "There are 2 DataSource beans, [orders, audit], and none is primary, so it is not known which"
                                + " one the outbox is in.");
        assertThat(analysis.getAction()).startsWith("Set postrider.data-source to the name of the one");
    }

    @Test
    void a_choice_that_is_not_there() {
        FailureAnalysis analysis = analysis(TwoDataSources.class, KAFKA, "postrider.data-source=order");
        assertThat(analysis.getDescription())
                .isEqualTo("There is no DataSource bean named 'order', which postrider.data-source asks for.");
        assertThat(analysis.getAction()).isEqualTo("Set postrider.data-source to one of these: [orders, audit].");
    }

    @Test
    void one_of_several_data_sources_can_be_chosen() {
        try (TestApplication app = TestApplication.runBare(
                TwoDataSources.class,
                TestApplication.WITHOUT_JPA,
                TestApplication.WITHOUT_RELAY,
                "postrider.data-source=audit",
                "postrider.schema.name=chosen")) {
            assertThat(app.bean(Outbox.class)).isInstanceOf(SpringOutbox.class);
            var audit = app.context().getBean("audit", DataSource.class);
            assertThat(new JdbcTemplate(audit)
                            .queryForObject("SELECT count(*) FROM chosen.outbox_event", Integer.class))
                    .isZero();
        }
    }

    @Test
    void a_pool_that_is_too_small_for_relay_and_application() {
        FailureAnalysis analysis = analysis(
                App.class,
                KAFKA,
                "postrider.relay.own-connections=false",
                "postrider.relay.loops=2",
                "spring.datasource.hikari.maximum-pool-size=7");
        assertThat(analysis.getDescription())
                .isEqualTo("The pool of the application has 7 connections and the relay keeps 7 of them (loops + 5), so"
                        + " too few are left for the application.");
        assertThat(analysis.getAction())
                .isEqualTo("Let the pool have 8 connections or more (with Hikari"
                        + " spring.datasource.hikari.maximum-pool-size), lower postrider.relay.loops, or, with"
                        + " Hikari, leave postrider.relay.own-connections=true.");
    }

    @Test
    void a_pool_that_is_too_small_for_workers_and_application() {
        FailureAnalysis analysis = analysis(
                App.class,
                TestApplication.WITHOUT_RELAY,
                "postrider.relay.own-connections=false",
                "postrider.workers.orders.streams=orders",
                "postrider.workers.mails.streams=mails",
                "spring.datasource.hikari.maximum-pool-size=8");
        assertThat(analysis.getDescription())
                .isEqualTo(
                        "The pool of the application has 8 connections and relay and workers keep 8 of them (3 for each"
                                + " worker, 2 for the rest), so too few are left for the application.");
        assertThat(analysis.getAction())
                .isEqualTo("Let the pool have 9 connections or more (with Hikari"
                        + " spring.datasource.hikari.maximum-pool-size), have fewer workers, or, with Hikari, leave"
                        + " postrider.relay.own-connections=true.");
    }

    @Test
    void a_schema_that_is_missing() {
        FailureAnalysis analysis =
                analysis(App.class, KAFKA, "postrider.schema.mode=validate", "postrider.schema.name=nowhere");
        assertThat(analysis.getDescription())
                .startsWith("The tables of the outbox are missing or too old, and postrider.schema.mode is validate.")
                .contains("SET search_path TO nowhere;")
                .contains("CREATE TABLE outbox_event");
        assertThat(analysis.getAction())
                .isEqualTo(
                        "Run this SQL with your migration tool, or set postrider.schema.mode=migrate to have it done at"
                                + " start.");
    }

    @Test
    void settings_of_kafka_that_lose_events() {
        FailureAnalysis analysis = analysis(App.class, KAFKA, "postrider.kafka.properties.acks=1");
        assertThat(analysis.getDescription())
                .startsWith("Events cannot be sent to Kafka with these settings: ")
                .contains("acks=1");
    }

    @Test
    void settings_of_the_relay_that_contradict_each_other() {
        FailureAnalysis analysis =
                analysis(App.class, KAFKA, "postrider.relay.retry.first=1m", "postrider.relay.retry.max=10s");
        assertThat(analysis.getDescription()).contains("PT1M").contains("PT10S");
        assertThat(analysis.getAction()).isEqualTo("Change the settings under postrider.relay.");
    }

    @Test
    void an_ssl_bundle_is_not_ignored() {
        FailureAnalysis analysis = analysis(App.class, KAFKA, "spring.kafka.ssl.bundle=mine");
        assertThat(analysis.getDescription()).startsWith("spring.kafka.ssl.bundle is set");
    }
}
