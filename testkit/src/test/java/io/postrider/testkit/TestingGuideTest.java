// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.relay.Publisher;
import io.postrider.relay.RetryableFailureException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** The snippets of docs/guide/testing.md, which are checked to be the ones that run here. */
class TestingGuideTest {
    private static final Pattern SNIPPET = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    private static PostgresServer postgres;

    @BeforeAll
    static void start() {
        postgres = PostgresServer.start();
    }

    @AfterAll
    static void close() {
        postgres.close();
    }

    @Test
    void everySnippetOfTheGuideIsCodeThatRunsHere() throws IOException {
        Path root = root();
        String source = bare(
                Files.readString(root.resolve("testkit/src/test/java/io/postrider/testkit/TestingGuideTest.java")));
        List<String> snippets = SNIPPET.matcher(Files.readString(root.resolve("docs/guide/testing.md")))
                .results()
                .map(match -> match.group(1))
                .toList();
        assertThat(snippets).hasSizeGreaterThan(5);
        for (String snippet : snippets) {
            assertThat(source).contains(bare(snippet));
        }
    }

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        return Files.exists(here.resolve("docs/guide/testing.md")) ? here : here.resolve("..");
    }

    /** Without its white space, which the formatter may arrange in another way. */
    private static String bare(String text) {
        return text.replaceAll("\\s+", "");
    }

    @Test
    void assertOnWhatWasAppended() {
        RecordingOutbox outbox = new RecordingOutbox();
        new OrderService(outbox).place("order-7");

        OutboxEvent event = outbox.only();
        assertThat(event.type()).isEqualTo("OrderPlaced");
        assertThat(event.key()).contains("order-7");
        assertThat(outbox.events("invoices")).isEmpty();
    }

    @Test
    void realPostgres() throws SQLException {
        try (PostgresServer postgres = PostgresServer.start()) {
            PostgresServer.Database database = postgres.createDatabase();
            try (Connection connection = database.dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE customer_order (id text PRIMARY KEY)");
            }
            postgres.kill();
            postgres.startAgain();
            assertThat(tables(database)).contains("customer_order");
        }
    }

    @Test
    void tunedPostgres() {
        PostgresServer postgres = PostgresServer.builder()
                .setting("max_connections", "50")
                .fsync(false)
                .start();
        assertThat(postgres.pid()).isPositive();
        postgres.close();
    }

    @Test
    void realKafka() {
        try (KafkaServer kafka = KafkaServer.start()) {
            kafka.createTopic("orders", 4, Map.of("retention.ms", "60000"));
            assertThat(kafka.bootstrapServers()).startsWith("127.0.0.1:");
        }
    }

    @Test
    void whenTheDestinationFails() {
        RecordingPublisher publisher = new RecordingPublisher();
        publisher.failNext(2, new RetryableFailureException("BUSY", "The broker is busy", null));
        publisher.hold();

        publisher.publish(OutboxEvent.of("orders", "OrderPlaced").build());
        publisher.awaitCount(1, Duration.ofSeconds(5));
        publisher.release();
        assertThat(publisher.deliveries().get(0).failed()).isTrue();
    }

    @Test
    void whenTheDestinationIsFlaky() {
        Publisher publisher = FlakyPublisher.around(new RecordingPublisher())
                .seed(42)
                .failures(0.10)
                .delays(0.20, Duration.ofMillis(50))
                .lostAnswers(0.05)
                .build();
        assertThat(publisher.publish(OutboxEvent.of("orders", "OrderPlaced").build()))
                .isNotNull();
        publisher.close();
    }

    @Test
    void whenTheNetworkIsSilent() throws SQLException {
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", postgres.port())) {
            PGSimpleDataSource source = postgres.dataSource();
            source.setPortNumbers(new int[] {proxy.port()});
            try (Connection connection = source.getConnection()) {
                connection.setNetworkTimeout(Runnable::run, 1_000);
                proxy.blackHole();
                assertThatThrownBy(() -> connection.createStatement().execute("SELECT 1"))
                        .isInstanceOf(SQLException.class);
            }
        }
    }

    @Test
    void whenAProcessDies() {
        try (ChildJvm relay = ChildJvm.of(RelayMain.class)
                .args("orders")
                .jvmOptions("-Xmx64m")
                .start()) {
            relay.awaitLine("relaying orders"::equals, Duration.ofSeconds(30));
            relay.kill();
            assertThat(relay.awaitExit(Duration.ofSeconds(5))).hasValue(137);
        }
    }

    @Test
    void nothingIsLostInventedReorderedOrAltered() {
        DeliveryLog log = DeliveryLog.inMemory();
        List<OutboxEvent> appended = new ArrayList<>();
        Ledger.Appender appender = (connection, event) -> {
            synchronized (appended) {
                appended.add(event);
            }
        };
        Ledger ledger = Ledger.create(postgres.createDatabase().dataSource());
        try (LedgerWriters writers = ledger.writers(appender)
                .threads(2)
                .keys(20)
                .seed(42)
                .rollbacks(0)
                .events(200)
                .start()) {
            writers.awaitDone(Duration.ofMinutes(1));
        }
        Publisher relay = log.publisher();
        appended.forEach(relay::publish);

        assertThat(ledger.awaitDelivered(log, Duration.ofSeconds(30))).isTrue();
        LedgerReport report = ledger.check(log);
        System.out.println(report.summary());
        report.assertSound(0);
    }

    private static List<String> tables(PostgresServer.Database database) throws SQLException {
        List<String> names = new ArrayList<>();
        try (Connection connection = database.dataSource().getConnection();
                var rows = connection.getMetaData().getTables(null, "public", "%", null)) {
            while (rows.next()) {
                names.add(rows.getString("TABLE_NAME"));
            }
        }
        return names;
    }

    private record OrderService(Outbox outbox) {
        void place(String id) {
            outbox.append(OutboxEvent.of("orders", "OrderPlaced")
                    .aggregate("Order", id)
                    .json("{}")
                    .build());
        }
    }

    static final class RelayMain {
        public static void main(String[] args) throws InterruptedException {
            System.out.println("relaying " + args[0]);
            Thread.currentThread().join();
        }
    }
}
