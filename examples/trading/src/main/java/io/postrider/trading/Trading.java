// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import com.zaxxer.hikari.HikariDataSource;
import io.postrider.testkit.PostgresServer;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs it all: the database, the exchange, the workers and, if wanted, Kafka; then compares their books. */
final class Trading {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final Duration LOOK_EVERY = Duration.ofMillis(100);
    private static final int BACKTESTS = 20;

    private final Options options;
    private final PrintStream out;

    private Trading(Options options, PrintStream out) {
        this.options = options;
        this.out = out;
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        Options options;
        try {
            options = Options.parse(args);
        } catch (IllegalArgumentException e) {
            System.err.println(
                    e.getMessage() + "\n\n" + Database.resource("usage.txt").strip());
            System.exit(2);
            return;
        }
        if (options.help()) {
            out.println(Database.resource("usage.txt").strip());
            return;
        }
        Path log = logToFile();
        boolean good = new Trading(options, out).run();
        if (!good) {
            out.println("\n  The books do not agree; the log is in " + log);
        }
        System.exit(good ? 0 : 1);
    }

    /** From now on what would go to standard error, and so the log, goes to a file. */
    private static Path logToFile() throws IOException {
        Path log =
                Path.of(System.getProperty("trading.log", "target/trading.log")).toAbsolutePath();
        Files.createDirectories(log.resolveSibling("."));
        System.setErr(new PrintStream(Files.newOutputStream(log), true, StandardCharsets.UTF_8));
        return log;
    }

    private boolean run() throws Exception {
        try (PostgresServer postgres = PostgresServer.start();
                HikariDataSource database = Database.pool(postgres.url(), 4);
                Exchange exchange = new Exchange();
                Broker kafka = new Broker(options.kafka())) {
            Market market = Market.open(database);
            out.println("  PostgreSQL runs" + (options.kafka() ? ", Kafka runs" : ", there is no broker"));
            WorkerProcess.Addresses addresses =
                    new WorkerProcess.Addresses(postgres.url(), exchange.url(), kafka.address());
            List<WorkerProcess> workers = workers(addresses);
            try {
                workers.forEach(WorkerProcess::start);
                workers.forEach(WorkerProcess::awaitReady);
                out.println("  " + workers.size() + " workers run, each in a process of its own");
                int late = Math.max(1, options.orders() / 10);
                trade(market, database, workers, late);
                return new Books(database, exchange, kafka, out).agree(options.orders(), late, BACKTESTS);
            } finally {
                workers.forEach(WorkerProcess::close);
            }
        }
    }

    private List<WorkerProcess> workers(WorkerProcess.Addresses addresses) {
        List<WorkerProcess> workers = new ArrayList<>();
        workers.add(new WorkerProcess(Role.ORDER_EXECUTOR, 1, addresses));
        workers.add(new WorkerProcess(Role.ORDER_EXECUTOR, 2, addresses));
        workers.add(new WorkerProcess(Role.NOTIFICATION, 1, addresses));
        workers.add(new WorkerProcess(Role.BACKTEST, 1, addresses));
        workers.add(new WorkerProcess(Role.SYSTEM, 1, addresses));
        if (options.kafka()) {
            workers.add(new WorkerProcess(Role.RELAY, 1, addresses));
        }
        return workers;
    }

    private void trade(Market market, HikariDataSource database, List<WorkerProcess> workers, int late)
            throws SQLException, InterruptedException {
        try (@Nullable Chaos chaos = options.chaos() ? Chaos.start(workers) : null) {
            for (int i = 0; i < options.orders(); i++) {
                market.order("order-" + i);
                if (options.chaos() && i % 5 == 0) {
                    market.orderAgain("order-" + i);
                }
                if (i < BACKTESTS) {
                    market.backtest("backtest-" + i);
                }
            }
            for (int i = options.orders(); i < BACKTESTS; i++) {
                market.backtest("backtest-" + i);
            }
            out.println("  " + options.orders() + " orders and " + BACKTESTS + " backtests are given");
            // Each order and each backtest has its end and its notification.
            await(database, 2L * options.orders() + 2 * BACKTESTS);
            market.turnKillSwitch(true);
            while (!Books.isHalted(database)) {
                Thread.sleep(LOOK_EVERY.toMillis());
            }
            out.println("  the kill switch is on, " + late + " orders are given all the same");
            for (int i = 0; i < late; i++) {
                market.order("late-" + i);
            }
            await(database, 2L * (options.orders() + late) + 2 * BACKTESTS);
            if (chaos != null) {
                out.println("  " + chaos.kills() + " workers were killed with -9");
            }
        }
    }

    /** Until so much has come to its end, or nothing has for a while: then the books tell what is missing. */
    private static void await(HikariDataSource database, long wanted) throws SQLException, InterruptedException {
        long moved = System.nanoTime();
        long last = -1;
        long now = 0;
        while (now < wanted && System.nanoTime() - moved < PATIENCE.toNanos()) {
            Thread.sleep(LOOK_EVERY.toMillis());
            now = Books.finished(database);
            if (now != last) {
                last = now;
                moved = System.nanoTime();
            }
        }
    }
}
