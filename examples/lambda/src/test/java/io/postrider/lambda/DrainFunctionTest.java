// SPDX-License-Identifier: Apache-2.0
package io.postrider.lambda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.jdbc.JdbcOutbox;
import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.testkit.DeliveryLog;
import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.KafkaTap;
import io.postrider.testkit.Ledger;
import io.postrider.testkit.LedgerWriters;
import io.postrider.testkit.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DrainFunctionTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Test
    void runsThatOverlapDeliverEverythingOnceAndLeaveNothingRunning() {
        try (PostgresServer postgres = PostgresServer.builder().fsync(false).start();
                KafkaServer kafka = KafkaServer.start();
                DeliveryLog log = DeliveryLog.inMemory()) {
            PostgresServer.Database database = postgres.createDatabase();
            Schema.of(database.dataSource()).apply(SchemaMode.MIGRATE);
            kafka.createTopic("orders", 4);
            JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());
            Ledger ledger = Ledger.create(database.dataSource());
            try (KafkaTap tap = KafkaTap.start(kafka.bootstrapServers(), log, "orders");
                    LedgerWriters writers =
                            ledger
                                    .writers((connection, event) ->
                                            outbox.on(connection).append(event))
                                    .stream("orders")
                                    .rate(500)
                                    .events(1_000)
                                    .start()) {
                Set<Thread> before = Thread.getAllStackTraces().keySet();
                DrainFunction function = new DrainFunction(
                        Map.of("POSTRIDER_URL", database.url(), "KAFKA_BOOTSTRAP_SERVERS", kafka.bootstrapServers()));
                while (ledger.committed() < 1_000) {
                    List<CompletableFuture<DrainFunction.Report>> runs = Stream.generate(
                                    () -> CompletableFuture.supplyAsync(() -> run(function)))
                            .limit(2)
                            .toList();
                    runs.forEach(CompletableFuture::join);
                }
                writers.awaitDone(LIMIT);
                assertThat(run(function).complete()).isTrue();

                tap.awaitDistinct(Math.toIntExact(ledger.committed()), LIMIT);
                ledger.check(log).assertSound(0);
                assertThat(started(
                                before,
                                thread -> thread.getName().contains("kafka-producer")
                                        || thread.getName().startsWith("postrider-relay")))
                        .isEmpty();
            }
        }
    }

    @Test
    void whatIsMissingIsNamed() {
        assertThatThrownBy(() -> new DrainFunction(Map.of("POSTRIDER_URL", "jdbc:postgresql://localhost/orders")))
                .hasMessageContaining("KAFKA_BOOTSTRAP_SERVERS is missing");
    }

    private static DrainFunction.Report run(DrainFunction function) {
        return function.handleRequest(Map.of(), new LocalContext(LIMIT));
    }

    private static Set<String> started(Set<Thread> before, Predicate<Thread> kind) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !before.contains(thread) && kind.test(thread))
                .map(Thread::getName)
                .collect(Collectors.toSet());
    }
}
