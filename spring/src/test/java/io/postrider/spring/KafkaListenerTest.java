// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.inbox.Inbox;
import io.postrider.jdbc.JdbcInbox;
import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.PostgresServer;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.util.ClassUtils;

/** Spring's own listener, its offsets in Kafka and its effects here; and Kafka where connection details say it is. */
class KafkaListenerTest {
    private static final Duration SOON = Duration.ofSeconds(60);

    private static KafkaServer kafka;

    @Service
    static class Billing {
        private final JdbcTemplate jdbc;
        private final Inbox inbox;

        Billing(JdbcTemplate jdbc, Inbox inbox) {
            this.jdbc = jdbc;
            this.inbox = inbox;
        }

        @KafkaListener(topics = "order-events", groupId = "billing")
        @Transactional
        public void on(ConsumerRecord<String, String> record) {
            inbox.once(
                    "billing",
                    eventId(record),
                    () -> jdbc.update("INSERT INTO invoice (order_id) VALUES (?)", record.key()));
        }

        static UUID eventId(ConsumerRecord<?, ?> record) {
            byte[] id = record.headers().lastHeader("postrider-event-id").value();
            return UUID.fromString(new String(id, StandardCharsets.UTF_8));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Billing.class, Details.class})
    static class App {}

    /** Connection details, as containers give them; their class has another package in each line. */
    static final class Details implements ImportBeanDefinitionRegistrar {
        private static final List<String> NAMES = List.of(
                "org.springframework.boot.autoconfigure.kafka.KafkaConnectionDetails",
                "org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails");

        @Override
        public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
            ClassLoader loader = Details.class.getClassLoader();
            Class<?> type = NAMES.stream()
                    .filter(name -> ClassUtils.isPresent(name, loader))
                    .map(name -> ClassUtils.resolveClassName(name, loader))
                    .findFirst()
                    .orElseThrow();
            RootBeanDefinition definition = new RootBeanDefinition(type);
            definition.setInstanceSupplier(() -> details(type));
            registry.registerBeanDefinition("containerDetails", definition);
        }

        private static Object details(Class<?> type) {
            InvocationHandler answer = (proxy, method, given) -> switch (method.getName()) {
                case "getBootstrapServers" -> List.of(kafka.bootstrapServers());
                case "hashCode" -> 1;
                case "equals" -> false;
                case "toString" -> "details of the test";
                default -> InvocationHandler.invokeDefault(proxy, method, given);
            };
            return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, answer);
        }
    }

    @BeforeAll
    static void start() {
        kafka = KafkaServer.start();
    }

    @AfterAll
    static void stop() {
        kafka.close();
    }

    /** The settings name a broker that is not there: what the details say goes before. */
    private static TestApplication run(PostgresServer.Database database, String more) {
        return TestApplication.runOn(
                database,
                App.class,
                TestApplication.WITHOUT_JPA,
                "spring.kafka.bootstrap-servers=127.0.0.1:9",
                "postrider.kafka.bootstrap-servers=127.0.0.1:9",
                "spring.kafka.consumer.auto-offset-reset=earliest",
                more);
    }

    private static OutboxEvent placed(String order) {
        return OutboxEvent.of("order-events", "OrderPlaced")
                .aggregate("Order", order)
                .json("{}")
                .build();
    }

    private static void append(TestApplication app, OutboxEvent event) {
        app.transaction().executeWithoutResult(tx -> app.bean(Outbox.class).append(event));
    }

    private static List<String> invoices(TestApplication app) {
        return app.jdbc().queryForList("SELECT order_id FROM invoice ORDER BY 1", String.class);
    }

    @Test
    void a_listener_that_ends_between_its_two_commits_and_records_that_come_twice_have_one_effect() throws Exception {
        PostgresServer.Database database = TestApplication.database();
        OutboxEvent first = placed("A");
        // Nobody acknowledges: as if the process had died each time after the commit of its transaction.
        try (TestApplication app = run(database, "spring.kafka.listener.ack-mode=manual")) {
            app.jdbc().execute("CREATE TABLE invoice (order_id text NOT NULL)");
            append(app, first);
            await().atMost(SOON).untilAsserted(() -> assertThat(invoices(app)).containsExactly("A"));
        }
        try (TestApplication app = run(database, "spring.kafka.listener.ack-mode=record")) {
            sendAgain(first);
            append(app, placed("B"));
            await().atMost(SOON).untilAsserted(() -> {
                assertThat(invoices(app)).contains("B");
                assertThat(app.bean(JdbcInbox.class).duplicateCount()).isGreaterThanOrEqualTo(2);
            });
            assertThat(invoices(app)).containsExactly("A", "B");
        }
    }

    private static void sendAgain(OutboxEvent event) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", kafka.bootstrapServers()),
                new StringSerializer(),
                new StringSerializer())) {
            ProducerRecord<String, String> record =
                    new ProducerRecord<>("order-events", event.key().orElseThrow(), "{}");
            record.headers().add("postrider-event-id", event.id().toString().getBytes(StandardCharsets.UTF_8));
            producer.send(record).get();
        }
    }

    @Test
    void the_listener_of_the_guide_is_the_one_that_runs_here() throws IOException {
        Path root = Stream.of("", "..", "../..")
                .map(up -> Path.of(up).toAbsolutePath())
                .filter(path -> Files.exists(path.resolve("docs/guide/inbox.md")))
                .findFirst()
                .orElseThrow();
        String guide = Files.readString(root.resolve("docs/guide/inbox.md"));
        String source =
                Files.readString(root.resolve("spring/src/test/java/io/postrider/spring/KafkaListenerTest.java"));
        List<String> snippets = Pattern.compile("```java\n(@KafkaListener.*?)```", Pattern.DOTALL)
                .matcher(guide)
                .results()
                .map(match -> match.group(1).replaceAll("\\s+", ""))
                .toList();
        assertThat(snippets).hasSize(1);
        assertThat(source.replaceAll("\\s+", "")).contains(snippets.get(0));
    }
}
