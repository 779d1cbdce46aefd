// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.serve;

import static io.postrider.cli.serve.ServerProcess.LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.jdbc.JdbcOutbox;
import io.postrider.testkit.DeliveryLog;
import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.KafkaTap;
import io.postrider.testkit.Ledger;
import io.postrider.testkit.LedgerWriters;
import io.postrider.testkit.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A relay server with a heap of 128 MB under load; run by hand, since it takes minutes: {@code ./mvnw test -pl cli -am
 * -Dtest=ServeLoad -Dsurefire.failIfNoSpecifiedTests=false}. Prints what came of it.
 */
class ServeLoad {
    private static final long RATE = Long.getLong("rate", 5_000);
    private static final Duration FOR = Duration.ofSeconds(Long.getLong("seconds", 60));

    @Test
    void aHeapOf128MegabytesSuffices(@TempDir Path directory) throws IOException {
        try (PostgresServer postgres = PostgresServer.start();
                KafkaServer kafka = KafkaServer.startProcess()) {
            PostgresServer.Database database = postgres.createDatabase();
            kafka.createTopic("load", 4);
            String yaml = """
                    server: {port: 0}
                    databases:
                      load:
                        url: '%s'
                        schema-mode: migrate
                        relays:
                          - kafka: {bootstrap-servers: '%s'}
                    """.formatted(database.url(), kafka.bootstrapServers());
            DeliveryLog log = DeliveryLog.inMemory();
            try (KafkaTap tap = KafkaTap.start(kafka.bootstrapServers(), log, "load");
                    ServerProcess server = ServerProcess.start(directory, yaml)) {
                server.awaitReady();
                run(database, log, server);
                assertThat(tap).isNotNull();
            }
        }
    }

    private static void run(PostgresServer.Database database, DeliveryLog log, ServerProcess server)
            throws IOException {
        Ledger ledger = Ledger.create(database.dataSource());
        JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());
        long start = System.nanoTime();
        try (LedgerWriters writers = ledger
                .writers((connection, event) -> outbox.on(connection).append(event))
                .threads(16)
                .keys(1_000)
                .rollbacks(0)
                .largeTransactions(1, 20)
                .rate(RATE)
                .stream("load")
                .start()) {
            Awaitility.await()
                    .atMost(FOR.plus(LONG))
                    .pollInterval(Duration.ofMillis(200))
                    .until(() -> System.nanoTime() - start >= FOR.toNanos());
            writers.stop();
        }
        double writing = (System.nanoTime() - start) / 1e9;
        long committed = ledger.committed();
        int delivered = log.distinct();
        assertThat(ledger.awaitDelivered(log, LONG.multipliedBy(5))).isTrue();
        double all = (System.nanoTime() - start) / 1e9;
        ledger.check(log).assertSound(0);
        String peak = Files.readAllLines(Path.of("/proc/" + server.child().pid() + "/status")).stream()
                .filter(line -> line.startsWith("VmHWM"))
                .findFirst()
                .orElse("VmHWM: not known");
        assertThat(server.end()).isZero();
        System.out.printf(
                "offered %d/s for %.0f s: %d committed (%.0f/s), %d of them delivered by then, all after %.0f s; %s%n%s%n",
                RATE,
                writing,
                committed,
                committed / writing,
                delivered,
                all,
                peak.replaceAll("\\s+", " "),
                ledger.check(log).summary());
    }
}
