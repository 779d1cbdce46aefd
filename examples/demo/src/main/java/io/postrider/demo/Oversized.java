// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.ops.DeadLetterQuery;
import io.postrider.ops.DeadLetters;
import io.postrider.testkit.KafkaServer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.random.RandomGenerator;
import javax.sql.DataSource;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;

/** Statements of account that a topic does not take, since they are too large for it: they die, and wait for a person. */
final class Oversized {
    private static final String STREAM = "statements";
    /** A relay that is refused ten different events in a row suspects the destination, and waits. */
    static final int COUNT = 9;

    private static final int BYTES = 4_000;
    private static final String LIMIT = "1000";
    private static final Duration LOOK_EVERY = Duration.ofMillis(100);

    private final DataSource dataSource;
    private final KafkaServer kafka;

    Oversized(DataSource dataSource, KafkaServer kafka) {
        this.dataSource = dataSource;
        this.kafka = kafka;
    }

    void append() throws SQLException {
        kafka.createTopic(STREAM, 1, Map.of("max.message.bytes", LIMIT));
        JdbcOutbox outbox = JdbcOutbox.of(dataSource);
        RandomGenerator random = RandomGenerator.getDefault();
        outbox.transact(tx -> {
            for (int account = 0; account < COUNT; account++) {
                // Digits at random, which compress too little to get through.
                StringBuilder lines = new StringBuilder();
                random.ints(BYTES, 0, 10).forEach(lines::append);
                tx.append(OutboxEvent.of(STREAM, "StatementIssued")
                        .aggregate("Account", account)
                        .json("{\"account\": " + account + ", \"lines\": \"" + lines + "\"}")
                        .build());
            }
        });
    }

    void awaitDead() throws InterruptedException {
        DeadLetters dead = DeadLetters.of(dataSource);
        while (dead.count(DeadLetterQuery.all().stream(STREAM), COUNT).found() < COUNT) {
            Thread.sleep(LOOK_EVERY.toMillis());
        }
    }

    /** Lets the topic take them: whoever requeues them now sees them delivered. */
    void raiseLimit() throws ExecutionException, InterruptedException {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()))) {
            ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, STREAM);
            AlterConfigOp raise = new AlterConfigOp(new ConfigEntry("max.message.bytes", "1000000"), OpType.SET);
            admin.incrementalAlterConfigs(Map.of(topic, List.of(raise))).all().get();
            // The broker hears of it from its controller.
            while (!limits(admin, topic).contains(raise.configEntry().value())) {
                Thread.sleep(LOOK_EVERY.toMillis());
            }
        }
    }

    private static List<String> limits(Admin admin, ConfigResource topic)
            throws ExecutionException, InterruptedException {
        return admin.describeConfigs(List.of(topic)).all().get().values().stream()
                .map(config -> config.get("max.message.bytes").value())
                .toList();
    }
}
