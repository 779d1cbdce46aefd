// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.testkit.ChildJvm;
import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Consumers are killed with kill -9, and others go on. */
class KafkaFeedCrashTest {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int EVENTS = 1_200;
    private static final int KEYS = 24;
    /** Two of one key: whoever handles one of them for the first time is killed then. */
    private static final List<Integer> HOLDING = List.of(EVENTS / 5 / KEYS * KEYS, EVENTS / 2 / KEYS * KEYS);

    private static final KafkaServer kafka = SharedBroker.KAFKA;
    private static PostgresServer postgres;

    @BeforeAll
    static void start() throws SQLException {
        postgres = PostgresServer.start();
        Schema.of(postgres.dataSource()).apply(SchemaMode.MIGRATE);
        execute("CREATE TABLE call (n bigserial, event_id uuid, key text, number int)");
        execute("CREATE TABLE effect (n bigserial, event_id uuid, key text, number int)");
    }

    @AfterAll
    static void stop() {
        postgres.close();
    }

    @Test
    void nothingIsLostWhatIsRepeatedHasItsEffectOnceAndKeysKeepTheirOrder() throws SQLException {
        String topic = "crash-" + UUID.randomUUID();
        kafka.createTopic(topic, 6);
        kafka.createTopic(topic + ".dead", 1);
        try (KafkaPublisher publisher = KafkaPublisher.create(Topics.settings(kafka))) {
            for (int i = 0; i < EVENTS; i++) {
                OutboxEvent.Builder event =
                        OutboxEvent.of(topic, "T").key("k" + i % KEYS).text("" + i / KEYS);
                if (HOLDING.contains(i)) {
                    event.header("hold", "" + i);
                }
                Topics.await(publisher.publish(event.build()));
            }
        }
        List<ChildJvm> children = new ArrayList<>(List.of(child(topic), child(topic)));
        try {
            for (int holding : HOLDING) {
                ChildJvm victim = awaitHolder(children, holding);
                victim.kill();
                children.remove(victim);
                awaitEffects(number("SELECT count(*) FROM effect") + 1);
                children.add(child(topic));
            }
            awaitEffects(EVENTS);
        } finally {
            children.forEach(ChildJvm::close);
        }
        assertThat(number("SELECT count(*) FROM effect")).isEqualTo(EVENTS);
        assertThat(number("SELECT count(DISTINCT event_id) FROM effect")).isEqualTo(EVENTS);
        assertThat(number("SELECT count(*) FROM (SELECT number < lag(number) OVER (PARTITION BY key ORDER BY n) AS back"
                        + " FROM effect) AS e WHERE back"))
                .as("effects that came before an earlier one of their key")
                .isZero();
        assertThat(number("SELECT count(*) FROM call"))
                .as("a kill between the handler and the commit of its offset was hit, or the test shows nothing")
                .isGreaterThan(EVENTS);
        assertThat(Topics.read(kafka, topic + ".dead")).isEmpty();
    }

    /** The one that has handled this event and has not come back from its handler. */
    private static ChildJvm awaitHolder(List<ChildJvm> children, int holding) {
        return await().atMost(PATIENCE)
                .until(
                        () -> children.stream()
                                .peek(child -> assertThat(child.isAlive())
                                        .as(() -> String.join("\n", child.lines()))
                                        .isTrue())
                                .filter(child -> child.lines().contains(FeedChild.HOLDS + holding))
                                .findFirst(),
                        Optional::isPresent)
                .orElseThrow();
    }

    private static void awaitEffects(long wanted) {
        await().atMost(PATIENCE).until(() -> number("SELECT count(*) FROM effect") >= wanted);
    }

    private static ChildJvm child(String topic) {
        return ChildJvm.of(FeedChild.class)
                .jvmOptions("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
                .args(kafka.bootstrapServers(), topic, postgres.url())
                .start();
    }

    private static void execute(String sql) throws SQLException {
        try (Connection connection = postgres.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static long number(String sql) throws SQLException {
        try (Connection connection = postgres.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
