// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.cli.Shell.Result;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.jdbc.OrderedFeed;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.relay.Relay;
import io.postrider.testkit.DeliveryLog;
import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.KafkaTap;
import io.postrider.testkit.Ledger;
import io.postrider.testkit.LedgerWriters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/** Scheduled drains that overlap each other and relays that come and go. */
class DrainLoopTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @Test
    void nothingIsLostOrDeliveredTwice() {
        Shell shell = Shell.migrated();
        Ledger ledger = Ledger.create(shell.database().dataSource());
        JdbcOutbox outbox = JdbcOutbox.of(shell.database().dataSource());
        ExecutorService schedule = Executors.newFixedThreadPool(2);
        try (KafkaServer kafka = KafkaServer.start();
                DeliveryLog log = DeliveryLog.inMemory()) {
            kafka.createTopic("orders", 4);
            try (KafkaTap tap = KafkaTap.start(kafka.bootstrapServers(), log, "orders");
                    LedgerWriters writers =
                            ledger
                                    .writers((connection, event) ->
                                            outbox.on(connection).append(event))
                                    .stream("orders")
                                    .rate(500)
                                    .start()) {
                List<Result> alone = twiceAtOnce(shell, kafka, schedule);
                List<Result> beside = new ArrayList<>();
                for (int i = 0; i < 2; i++) {
                    try (Relay relay = relay(shell, kafka)) {
                        relay.start();
                        beside.addAll(twiceAtOnce(shell, kafka, schedule));
                    }
                    alone.addAll(twiceAtOnce(shell, kafka, schedule));
                }
                writers.stop();
                alone.add(drain(shell, kafka, PATIENCE.toSeconds()));

                tap.awaitDistinct(Math.toIntExact(ledger.committed()), PATIENCE);
                ledger.check(log).assertSound(0);
                assertThat(alone).allSatisfy(each -> assertThat(each.code()).isIn(0, 3, 4));
                assertThat(beside).allSatisfy(each -> assertThat(each.code()).isIn(0, 4));
                assertThat(alone).anySatisfy(each -> assertThat(each.out()).doesNotStartWith("0 delivered"));
                assertThat(alone.get(alone.size() - 1).code()).isZero();
            }
        } finally {
            schedule.shutdownNow();
        }
    }

    /** Two passes at a time, three times in a row. */
    private static List<Result> twiceAtOnce(Shell shell, KafkaServer kafka, ExecutorService schedule) {
        List<Result> results = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            CompletableFuture<Result> one = CompletableFuture.supplyAsync(() -> drain(shell, kafka, 1), schedule);
            CompletableFuture<Result> other = CompletableFuture.supplyAsync(() -> drain(shell, kafka, 1), schedule);
            results.add(one.join());
            results.add(other.join());
        }
        return results;
    }

    private static Result drain(Shell shell, KafkaServer kafka, long deadlineSeconds) {
        return shell.type(
                "drain", "--bootstrap-servers", kafka.bootstrapServers(), "--deadline", Long.toString(deadlineSeconds));
    }

    private static Relay relay(Shell shell, KafkaServer kafka) {
        return Relay.from(OrderedFeed.of(shell.database().dataSource()))
                .to(KafkaPublisher.create(Map.of("bootstrap.servers", kafka.bootstrapServers())))
                .build();
    }
}
