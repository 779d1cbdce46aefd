// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The snippets of docs/guide/inbox.md, which are checked to be the ones that run here. */
class InboxGuideTest {
    private static final Pattern SNIPPET = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern CRON = Pattern.compile("psql .* -c \"([^\"]+)\"");
    private static final TestDatabase database = TestDatabase.migrated();

    private final DataSource dataSource = database.dataSource();
    private final JdbcInbox inbox = JdbcInbox.of(dataSource);
    private final Invoices invoices = new Invoices();
    private final UUID eventId = UUID.randomUUID();
    private final String order = eventId.toString();

    @BeforeEach
    void clear() {
        database.clear();
        database.execute("DROP TABLE IF EXISTS invoice; CREATE TABLE invoice (order_id text)");
    }

    @Test
    void everySnippetOfTheGuideIsCodeThatRunsHere() throws IOException {
        String source = bare(
                Files.readString(root().resolve("core/tests/src/test/java/io/postrider/jdbc/InboxGuideTest.java")));
        List<String> snippets =
                // The listener of Spring runs in the starter's tests, which check it.
                SNIPPET.matcher(guide())
                        .results()
                        .map(match -> match.group(1))
                        .filter(snippet -> !snippet.startsWith("@KafkaListener"))
                        .toList();
        assertThat(snippets).hasSizeGreaterThan(4);
        for (String snippet : snippets) {
            assertThat(source).contains(bare(snippet));
        }
    }

    @Test
    void theLineForCronForgetsWhatIsOld() throws IOException {
        database.execute("INSERT INTO inbox_message VALUES ('billing', gen_random_uuid(), now() - interval '15 days'),"
                + " ('billing', gen_random_uuid(), now() - interval '13 days')");
        Matcher cron = CRON.matcher(guide());
        assertThat(cron.find()).isTrue();
        database.execute(cron.group(1));
        assertThat(database.number("SELECT count(*) FROM inbox_message")).isEqualTo(1);
    }

    @Test
    void aTransactionOfItsOwn() throws SQLException {
        for (int delivery = 0; delivery < 2; delivery++) {
            inbox.transact("billing", eventId, tx -> invoices.insert(tx.connection(), order));
        }
        assertThat(invoices.count()).isEqualTo(1);
    }

    @Test
    void theCallersTransaction() throws SQLException {
        for (int delivery = 0; delivery < 2; delivery++) {
            try (Connection connection = dataSource.getConnection()) {
                connection.setAutoCommit(false);
                boolean ran = inbox.on(connection).once("billing", eventId, () -> invoices.insert(connection, order));
                connection.commit();
                assertThat(ran).isEqualTo(delivery == 0);
            }
        }
        assertThat(invoices.count()).isEqualTo(1);
    }

    @Test
    void eventsOfItsOwn() throws SQLException {
        JdbcOutbox outbox = JdbcOutbox.of(dataSource);
        for (int delivery = 0; delivery < 2; delivery++) {
            outbox.transact(tx -> inbox.on(tx.connection()).once("billing", eventId, () -> {
                invoices.insert(tx.connection(), order);
                tx.append(OutboxEvent.of("invoices", "InvoiceSent").key(order).build());
            }));
        }
        assertThat(invoices.count()).isEqualTo(1);
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isEqualTo(1);
    }

    @Test
    void aPollOfKafka() throws SQLException {
        ConsumerRecords<String, String> records = records(500);
        for (int delivery = 0; delivery < 2; delivery++) {
            try (Connection connection = dataSource.getConnection()) {
                connection.setAutoCommit(false);
                Map<UUID, String> orders = new LinkedHashMap<>();
                records.forEach(record -> orders.put(eventId(record), record.value()));
                orders.keySet().retainAll(inbox.on(connection).claim("billing", orders.keySet()));
                for (String fresh : orders.values()) {
                    invoices.insert(connection, fresh);
                }
                connection.commit();
                // Then consumer.commitSync(): what lies between the two is delivered again, and dropped then.
            }
        }
        assertThat(invoices.count()).isEqualTo(500);
    }

    static UUID eventId(ConsumerRecord<?, ?> record) {
        byte[] id = record.headers().lastHeader("postrider-event-id").value();
        return UUID.fromString(new String(id, StandardCharsets.UTF_8));
    }

    @Test
    void whatIsOldIsForgotten() {
        database.execute("INSERT INTO inbox_message VALUES ('billing', gen_random_uuid(), now() - interval '31 days')");
        long forgotten = inbox.prune(Duration.ofDays(30));
        assertThat(forgotten).isEqualTo(1);
    }

    private static ConsumerRecords<String, String> records(int count) {
        TopicPartition partition = new TopicPartition("orders", 0);
        List<ConsumerRecord<String, String>> all = Stream.generate(UUID::randomUUID)
                .limit(count)
                .map(id -> new ConsumerRecord<>(
                        partition.topic(),
                        partition.partition(),
                        0L,
                        0L,
                        TimestampType.CREATE_TIME,
                        0,
                        0,
                        "key",
                        id.toString(),
                        new RecordHeaders()
                                .add("postrider-event-id", id.toString().getBytes(StandardCharsets.UTF_8)),
                        Optional.empty()))
                .toList();
        return new ConsumerRecords<>(Map.of(partition, all), Map.of());
    }

    private static final class Invoices {
        void insert(Connection connection, String order) throws SQLException {
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO invoice VALUES (?)")) {
                insert.setString(1, order);
                insert.executeUpdate();
            }
        }

        long count() {
            return database.number("SELECT count(*) FROM invoice");
        }
    }

    private static String guide() throws IOException {
        return Files.readString(root().resolve("docs/guide/inbox.md"));
    }

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        return Files.exists(here.resolve("docs/guide/inbox.md")) ? here : here.resolve("../..");
    }

    /** Without its white space, which the formatter may arrange in another way. */
    private static String bare(String text) {
        return text.replaceAll("\\s+", "");
    }
}
