// SPDX-License-Identifier: Apache-2.0
package io.postrider.lambda;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.PostgresServer;
import java.time.Duration;
import java.util.Map;

/** The function on this machine, with a real PostgreSQL and a real Kafka: one run per step, as a schedule would start it. */
public final class LocalRun {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private LocalRun() {}

    public static void main(String[] args) {
        try (PostgresServer postgres = PostgresServer.start();
                KafkaServer kafka = KafkaServer.start()) {
            PostgresServer.Database database = postgres.createDatabase();
            Schema.of(database.dataSource()).apply(SchemaMode.MIGRATE);
            kafka.createTopic("order-events", 1);
            kafka.createTopic("audit-events", 1);
            DrainFunction function = new DrainFunction(
                    Map.of("POSTRIDER_URL", database.url(), "KAFKA_BOOTSTRAP_SERVERS", kafka.bootstrapServers()));
            JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());

            append(outbox, "order-events", 1_000);
            append(outbox, "audit-events", 10);
            show("{\"stream\": \"order-events\"}", function, Map.of("stream", "order-events"));
            show("{}", function, Map.of());
            show("{}", function, Map.of());
        }
    }

    private static void append(JdbcOutbox outbox, String stream, int count) {
        outbox.transact(tx -> {
            for (int i = 0; i < count; i++) {
                tx.append(OutboxEvent.of(stream, "Happened")
                        .key("k" + i % 10)
                        .json("{\"n\": " + i + "}")
                        .build());
            }
        });
    }

    private static void show(String request, DrainFunction function, Map<String, Object> parsed) {
        System.out.println(request + " -> " + function.handleRequest(parsed, new LocalContext(LIMIT)));
    }
}
