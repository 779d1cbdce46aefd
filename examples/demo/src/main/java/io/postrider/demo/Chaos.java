// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import io.postrider.testkit.KafkaServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongSupplier;
import javax.sql.DataSource;

/** Kills a relay and the broker with -9 while transfers are under way, and starts them again. */
final class Chaos {
    private static final Duration BROKER_DOWN = Duration.ofSeconds(2);
    private static final Duration LOOK_EVERY = Duration.ofMillis(100);

    private final List<RelayProcess> relays;
    private final KafkaServer kafka;
    private final DataSource dataSource;
    private final Console console;
    private final CountDownLatch left = new CountDownLatch(2);

    Chaos(List<RelayProcess> relays, KafkaServer kafka, DataSource dataSource, Console console) {
        this.relays = relays;
        this.kafka = kafka;
        this.dataSource = dataSource;
        this.console = console;
    }

    /** Kills the relay once a third of the transfers is committed, and the broker once half of them is. */
    void start(LongSupplier committed, int events) {
        inBackground(() -> {
            awaitCommitted(committed, events / 3);
            restartRelay(relays.get(relays.size() - 1));
        });
        inBackground(() -> {
            awaitCommitted(committed, events / 2);
            restartBroker();
        });
    }

    /** Whether all that was killed runs again. */
    boolean isOver() {
        return left.getCount() == 0;
    }

    private void restartRelay(RelayProcess relay) throws SQLException, InterruptedException {
        relay.kill();
        console.failed(relay.name() + " killed with -9");
        if (relays.size() > 1) {
            // Another relay strikes it off the list when its lease has run out, and then has its accounts.
            while (isListed(relay.name())) {
                Thread.sleep(LOOK_EVERY.toMillis());
            }
            String others = relays.size() == 2 ? relays.get(0).name() + " has" : "the other relays have";
            console.done(others + " taken over from " + relay.name());
        }
        relay.start();
        relay.awaitReady();
        console.done(relay.name() + " started again");
    }

    private void restartBroker() throws InterruptedException {
        kafka.kill();
        console.failed("Kafka killed with -9");
        Thread.sleep(BROKER_DOWN.toMillis());
        kafka.startAgain();
        console.done("Kafka started again");
    }

    private boolean isListed(String name) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement("SELECT FROM outbox_relay WHERE name = ?")) {
            statement.setString(1, name);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next();
            }
        }
    }

    private static void awaitCommitted(LongSupplier committed, int wanted) throws InterruptedException {
        while (committed.getAsLong() < wanted) {
            Thread.sleep(LOOK_EVERY.toMillis());
        }
    }

    private interface Story {
        void tell() throws SQLException, InterruptedException;
    }

    private void inBackground(Story story) {
        Runnable task = () -> {
            try {
                story.tell();
                left.countDown();
            } catch (SQLException | InterruptedException e) {
                throw new IllegalStateException("Chaos was stopped: " + e.getMessage(), e);
            }
        };
        Thread thread = new Thread(task, "chaos");
        thread.setDaemon(true);
        thread.start();
    }
}
