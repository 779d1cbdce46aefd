// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.awaitility.Awaitility.await;

import io.postrider.spring.autoconfigure.RelayLifecycle;
import io.postrider.testkit.PostgresServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.awaitility.Awaitility;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Starts real applications on a database of their own, on a server that all tests of this JVM share. */
final class TestApplication implements AutoCloseable {
    private static final PostgresServer SERVER =
            PostgresServer.builder().fsync(false).start();

    static {
        // Where nothing else is said: a busy machine may stand still for longer than the ten seconds of the library.
        Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
    }

    /** Both names of what is left out: that of Spring Boot 3 and that of Spring Boot 4. */
    static final String WITHOUT_JPA = "spring.autoconfigure.exclude="
            + "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration,"
            + "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration,"
            + "org.springframework.boot.autoconfigure.data.jpa.JpaRepositoriesAutoConfiguration,"
            + "org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration";

    static final String WITHOUT_RELAY = "postrider.relay.enabled=false";

    private final ConfigurableApplicationContext context;

    private TestApplication(ConfigurableApplicationContext context) {
        this.context = context;
    }

    static PostgresServer.Database database() {
        return SERVER.createDatabase();
    }

    /** Runs it on a new database. */
    static TestApplication run(Class<?> configuration, String... properties) {
        return runOn(database(), configuration, properties);
    }

    static TestApplication runOn(PostgresServer.Database database, Class<?> configuration, String... properties) {
        List<String> all = new ArrayList<>(List.of("spring.datasource.url=" + database.url()));
        all.addAll(Arrays.asList(properties));
        return runBare(configuration, all.toArray(String[]::new));
    }

    /** Runs it with its web server, on a port of this machine that is free. */
    static TestApplication runWeb(PostgresServer.Database database, Class<?> configuration, String... properties) {
        List<String> all = new ArrayList<>(List.of(
                "spring.datasource.url=" + database.url(),
                "server.address=127.0.0.1",
                "server.port=0",
                WITHOUT_JPA,
                WITHOUT_RELAY));
        all.addAll(Arrays.asList(properties));
        return run(WebApplicationType.SERVLET, configuration, all.toArray(String[]::new));
    }

    /** Runs it without a word about a DataSource. */
    static TestApplication runBare(Class<?> configuration, String... properties) {
        return run(WebApplicationType.NONE, configuration, properties);
    }

    private static TestApplication run(WebApplicationType web, Class<?> configuration, String... properties) {
        TestApplication started = start(web, configuration, properties);
        // An application does not wait for its relay, but most tests do.
        started.context
                .getBeanProvider(RelayLifecycle.class)
                .ifAvailable(relay -> await().until(() -> relay.relay().isPresent()));
        return started;
    }

    /** The relay, if there is one, may not have begun yet. */
    static TestApplication start(WebApplicationType web, Class<?> configuration, String... properties) {
        return new TestApplication(new SpringApplicationBuilder(configuration)
                .web(web)
                .bannerMode(Banner.Mode.OFF)
                .logStartupInfo(false)
                .registerShutdownHook(false)
                .properties(properties)
                .run());
    }

    ConfigurableApplicationContext context() {
        return context;
    }

    /** Where the web server listens. */
    int port() {
        return Integer.parseInt(String.valueOf(context.getEnvironment().getProperty("local.server.port")));
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    JdbcTemplate jdbc() {
        return bean(JdbcTemplate.class);
    }

    TransactionTemplate transaction() {
        return new TransactionTemplate(bean(PlatformTransactionManager.class));
    }

    TransactionTemplate transaction(int propagation) {
        TransactionTemplate template = transaction();
        template.setPropagationBehavior(propagation);
        return template;
    }

    /** The types of the events in the table, in the order of their ids. */
    List<String> stored() {
        return jdbc().queryForList("SELECT event_type FROM outbox_event ORDER BY id", String.class);
    }

    @Override
    public void close() {
        context.close();
    }
}
