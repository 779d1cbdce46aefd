// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import io.postrider.testkit.KafkaServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
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
    private volatile boolean over;

    Chaos(List<RelayProcess> relays, KafkaServer kafka, DataSource dataSource, Console console) {
        this.relays = relays;
        this.kafka = kafka;
        this.dataSource = dataSource;
        this.console = console;
    }

    /** Begins once a third of the transfers is committed. */
    void start(LongSupplier committed, int events) {
        Thread thread = new Thread(() -> run(committed, events), "chaos");
        thread.setDaemon(true);
        thread.start();
    }

    /** Whether all that was killed runs again. */
    boolean isOver() {
        return over;
    }

    private void run(LongSupplier committed, int events) {
        try {
            RelayProcess relay = relays.get(relays.size() - 1);
            awaitCommitted(committed, events / 3);
            relay.kill();
            console.failed(relay.name() + " killed with -9");

            awaitCommitted(committed, events / 2);
            kafka.kill();
            console.failed("Kafka killed with -9");
            Thread.sleep(BROKER_DOWN.toMillis());
            kafka.startAgain();
            console.done("Kafka started again");

            if (relays.size() > 1) {
                awaitTakeOver(relay.name());
                console.done((relays.size() == 2 ? relays.get(0).name() + " has" : "the other relays have")
                        + " taken over from " + relay.name());
            }
            relay.start();
            relay.awaitReady();
            console.done(relay.name() + " started again");
            over = true;
        } catch (SQLException | InterruptedException e) {
            throw new IllegalStateException("Chaos was stopped: " + e.getMessage(), e);
        }
    }

    private static void awaitCommitted(LongSupplier committed, int wanted) throws InterruptedException {
        while (committed.getAsLong() < wanted) {
            Thread.sleep(LOOK_EVERY.toMillis());
        }
    }

    /** A relay that does not renew its lease is struck off the list by another one, which then has its accounts. */
    private void awaitTakeOver(String dead) throws SQLException, InterruptedException {
        while (isListed(dead)) {
            Thread.sleep(LOOK_EVERY.toMillis());
        }
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
}
