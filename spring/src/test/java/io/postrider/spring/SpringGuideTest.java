// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.spring.autoconfigure.AlertProperties;
import io.postrider.spring.autoconfigure.DashboardProperties;
import io.postrider.spring.autoconfigure.PostriderProperties;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.PropertiesPropertySource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The snippets of docs/guide/spring.md, which are checked to be the ones that run here. */
class SpringGuideTest {
    private static TestApplication app;

    record Order(String id, int total) {}

    @Service
    static class OrderService {
        private final JdbcTemplate jdbc;
        private final Outbox outbox;
        private final EventJson json;

        OrderService(JdbcTemplate jdbc, Outbox outbox, EventJson json) {
            this.jdbc = jdbc;
            this.outbox = outbox;
            this.json = json;
        }

        @Transactional
        public void place(Order order) {
            jdbc.update("INSERT INTO customer_order (id, total) VALUES (?, ?)", order.id(), order.total());
            outbox.append(json.event("order-events", "OrderPlaced", order)
                    .aggregate("Order", order.id())
                    .build());
        }
    }

    @OutboxMessage(stream = "order-events", key = "orderId", aggregate = "Order")
    record OrderPaid(String orderId, int amount) {}

    record OrderShipped(String orderId) {}

    @Service
    static class Payments {
        private final ApplicationEventPublisher events;

        Payments(ApplicationEventPublisher events) {
            this.events = events;
        }

        @Transactional
        public void pay(String orderId, int amount) {
            events.publishEvent(new OrderPaid(orderId, amount));
        }

        @Transactional
        public void ship(String orderId) {
            events.publishEvent(new OrderShipped(orderId));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({OrderService.class, Payments.class})
    static class App {
        @Bean
        EventMapping<OrderShipped> orderShipped(EventJson json) {
            return EventMapping.of(
                    OrderShipped.class,
                    shipped -> json.event("shipping", "OrderShipped", shipped)
                            .key(shipped.orderId())
                            .build());
        }

        @Bean
        EventContext tenant() {
            return () -> Map.of("tenant", "north");
        }
    }

    @AutoConfigureRecordingOutbox
    static class RecordingApp extends App {}

    @BeforeAll
    static void start() {
        app = TestApplication.run(App.class, TestApplication.WITHOUT_JPA, TestApplication.WITHOUT_RELAY);
        app.jdbc().execute("CREATE TABLE customer_order (id text PRIMARY KEY, total integer)");
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    @BeforeEach
    void clear() {
        app.jdbc().execute("DELETE FROM outbox_event; DELETE FROM customer_order");
    }

    @Test
    void what_the_guide_appends_is_stored() {
        app.bean(OrderService.class).place(new Order("7", 42));
        app.bean(Payments.class).pay("7", 42);
        app.bean(Payments.class).ship("7");
        assertThat(app.stored()).containsExactly("OrderPlaced", "OrderPaid", "OrderShipped");
        assertThatThrownBy(() -> app.bean(OrderService.class).place(new Order("7", 43)))
                .isNotNull();
        assertThat(app.stored()).hasSize(3);
    }

    @Test
    void what_the_guide_records_is_recorded() {
        var database = TestApplication.database();
        try (TestApplication recording =
                TestApplication.runOn(database, RecordingApp.class, TestApplication.WITHOUT_JPA)) {
            recording.jdbc().execute("CREATE TABLE customer_order (id text PRIMARY KEY, total integer)");
            OrderService orders = recording.bean(OrderService.class);
            RecordingOutbox outbox = recording.bean(RecordingOutbox.class);

            orders.place(new Order("7", 42));
            assertThat(outbox.committed("order-events"))
                    .extracting(OutboxEvent::type)
                    .containsExactly("OrderPlaced");
        }
    }

    @Test
    void every_java_snippet_of_the_guide_is_code_that_runs_here() throws IOException {
        StringBuilder all = new StringBuilder();
        for (String test : List.of("SpringGuideTest", "DashboardInApplicationTest")) {
            all.append(Files.readString(root().resolve("spring/src/test/java/io/postrider/spring/" + test + ".java")));
        }
        String source = bare(all.toString());
        List<String> snippets = snippets("java");
        assertThat(snippets).hasSizeGreaterThan(4);
        for (String snippet : snippets) {
            assertThat(source).contains(bare(snippet));
        }
    }

    @Test
    void every_setting_of_the_guide_exists() throws IOException {
        List<String> snippets = snippets("properties");
        assertThat(snippets).isNotEmpty();
        for (String snippet : snippets) {
            Properties properties = new Properties();
            properties.load(new StringReader(snippet));
            bind(properties, "postrider.alerts", AlertProperties.class);
            bind(properties, "postrider.dashboard", DashboardProperties.class);
            bind(properties, "postrider", PostriderProperties.class);
        }
    }

    /** Takes those out that belong there, and fails if one is not known. */
    private static void bind(Properties properties, String prefix, Class<?> type) {
        Properties own = new Properties();
        properties.stringPropertyNames().stream()
                .filter(name -> name.startsWith(prefix + "."))
                .forEach(name -> own.put(name, properties.remove(name)));
        new Binder(
                        ConfigurationPropertySources.from(new PropertiesPropertySource("guide", own)),
                        null,
                        ApplicationConversionService.getSharedInstance())
                .bind(prefix, Bindable.of(type), new NoUnboundElementsBindHandler(BindHandler.DEFAULT));
    }

    @Test
    void every_setting_is_in_the_guide_and_known_to_editors() throws IOException {
        String guide = Files.readString(root().resolve("docs/guide/spring.md"));
        String metadata;
        try (var in = PostriderProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            metadata = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        List<String> names = new ArrayList<>();
        Pattern.compile("\"name\": \"(postrider\\.[a-z.-]+)\",\\s+\"type\": \"[^\"]+\",\\s+\"description\"")
                .matcher(metadata)
                .results()
                .forEach(match -> names.add(match.group(1)));
        assertThat(names)
                .contains("postrider.relay.retry.attempts", "postrider.schema.mode")
                .hasSizeGreaterThan(20);
        assertThat(names).allSatisfy(name -> assertThat(guide).contains(name));
    }

    private static List<String> snippets(String language) throws IOException {
        return Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(root().resolve("docs/guide/spring.md")))
                .results()
                .map(match -> match.group(1))
                .toList();
    }

    /** The tests of both lines run here, each in a directory of its own. */
    private static Path root() {
        return Stream.of("", "..", "../..")
                .map(up -> Path.of(up).toAbsolutePath())
                .filter(path -> Files.exists(path.resolve("docs/guide/spring.md")))
                .findFirst()
                .orElseThrow();
    }

    /** Without its white space, which the formatter may arrange in another way. */
    private static String bare(String text) {
        return text.replaceAll("\\s+", "");
    }
}
