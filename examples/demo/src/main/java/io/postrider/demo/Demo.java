// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.postrider.server.Dashboard;
import io.postrider.server.DashboardServer;
import io.postrider.server.Role;
import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.PostgresServer;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

/** Runs it all: two servers, the transfer service, the relays and the consumer; then compares their ledgers. */
final class Demo {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Duration REDRAW_EVERY = Duration.ofMillis(200);

    private final Options options;
    private final Console console;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private Demo(Options options, Console console) {
        this.options = options;
        this.console = console;
    }

    public static void main(String[] args) throws IOException {
        boolean colour = System.getenv().getOrDefault("NO_COLOR", "").isEmpty();
        Console console = new Console(Boolean.getBoolean("demo.terminal"), colour);
        Options options;
        try {
            options = Options.parse(args);
        } catch (IllegalArgumentException e) {
            System.err.println(
                    e.getMessage() + "\n\n" + Bank.resource("usage.txt").strip());
            System.exit(2);
            return;
        }
        if (options.help()) {
            console.line(Bank.resource("usage.txt").strip());
            return;
        }
        Path log = logToFile();
        Thread farewell = new Thread(() -> console.last("\n  ending PostgreSQL, Kafka and the relays"));
        Runtime.getRuntime().addShutdownHook(farewell);
        boolean good = new Demo(options, console).succeeds();
        Runtime.getRuntime().removeShutdownHook(farewell);
        if (!good) {
            console.line("\n  The log is in " + log);
        }
        System.exit(good ? 0 : 1);
    }

    /** From now on what would go to standard error, and so the log, goes to a file. */
    private static Path logToFile() throws IOException {
        Path log = Path.of(System.getProperty("demo.log", "target/demo.log")).toAbsolutePath();
        Files.createDirectories(log.resolveSibling("."));
        System.setErr(new PrintStream(Files.newOutputStream(log), true, StandardCharsets.UTF_8));
        return log;
    }

    private boolean succeeds() {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> failure.compareAndSet(null, e));
        try {
            Narration.header(console, options);
            return run();
        } catch (Exception e) {
            Throwable cause = e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
            cause.printStackTrace();
            console.endBlock();
            console.failed(String.valueOf(cause.getMessage()));
            return false;
        }
    }

    private boolean run() throws Exception {
        CompletableFuture<KafkaServer> starting = CompletableFuture.supplyAsync(this::startKafka);
        try (PostgresServer postgres = PostgresServer.start();
                HikariDataSource dataSource = pool(postgres.url())) {
            Bank.open(dataSource);
            console.done("PostgreSQL runs on port " + postgres.port());
            try (DashboardServer dashboard = Dashboard.on(dataSource)
                            .port(0)
                            .localRole(Role.ADMIN)
                            .start();
                    KafkaServer kafka = starting.join()) {
                console.done("the dashboard is at " + dashboard.url());
                return run(new Servers(postgres, dataSource, kafka, dashboard));
            }
        }
    }

    private KafkaServer startKafka() {
        KafkaServer kafka =
                KafkaServer.builder().jvmOptions("-XX:TieredStopAtLevel=1").startProcess();
        kafka.createTopic(TransferService.STREAM, 4);
        console.done("Kafka runs on port " + kafka.port());
        return kafka;
    }

    private static HikariDataSource pool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(Traffic.THREADS + 4);
        return new HikariDataSource(config);
    }

    private record Servers(
            PostgresServer postgres, HikariDataSource dataSource, KafkaServer kafka, DashboardServer dashboard) {}

    private boolean run(Servers servers) throws Exception {
        PostgresServer postgres = servers.postgres();
        HikariDataSource dataSource = servers.dataSource();
        KafkaServer kafka = servers.kafka();
        List<RelayProcess> relays = IntStream.rangeClosed(1, options.relays())
                .mapToObj(i -> new RelayProcess(
                        "relay-" + i, postgres.url(), kafka.bootstrapServers(), options.leaseSeconds()))
                .toList();
        Chaos chaos = new Chaos(relays, kafka, dataSource, console);
        try (FraudDetection fraud = new FraudDetection(dataSource, kafka.bootstrapServers());
                Traffic traffic = new Traffic(new TransferService(dataSource), options.events(), options.rate())) {
            relays.forEach(RelayProcess::start);
            fraud.start();
            relays.forEach(RelayProcess::awaitReady);
            console.done(relays.size() == 1 ? "the relay runs" : relays.size() + " relays run");
            traffic.start();
            if (options.chaos()) {
                chaos.start(traffic::committed, options.events());
            }
            watch(dataSource, traffic, fraud, chaos);

            Summary summary = Summary.of(dataSource);
            summary.print(console, options.events(), traffic.rolledBack(), fraud.duplicates());
            Narration.readNext(console);
            if (options.keep()) {
                stay(servers);
            }
            return summary.agrees(options.events());
        } finally {
            relays.forEach(RelayProcess::close);
        }
    }

    private void stay(Servers servers) throws Exception {
        if (options.chaos()) {
            Oversized oversized = new Oversized(servers.dataSource(), servers.kafka());
            oversized.append();
            oversized.awaitDead();
            oversized.raiseLimit();
            Narration.deadLetters(console, servers.dashboard());
        }
        Narration.lookAround(console, servers.postgres(), servers.kafka(), servers.dashboard());
        Thread.currentThread().join();
    }

    /** Shows how it goes until everything has arrived, or nothing has moved for a minute. */
    private void watch(HikariDataSource dataSource, Traffic traffic, FraudDetection fraud, Chaos chaos)
            throws SQLException, InterruptedException {
        StatusBlock status = new StatusBlock(console, dataSource, options.events());
        long moved = System.nanoTime();
        long last = 0;
        boolean arrived = false;
        while (!arrived && System.nanoTime() - moved < PATIENCE.toNanos()) {
            Thread.sleep(REDRAW_EVERY.toMillis());
            if (failure.get() != null) {
                throw new IllegalStateException(failure.get().getMessage(), failure.get());
            }
            status.refresh(traffic, fraud);
            long now = traffic.committed() + fraud.analysed() + fraud.duplicates();
            if (now != last) {
                last = now;
                moved = System.nanoTime();
            }
            arrived = traffic.isDone()
                    && status.pending() == 0
                    && fraud.analysed() >= traffic.committed()
                    && fraud.isCaughtUp()
                    && (chaos.isOver() || !options.chaos());
        }
        console.endBlock();
    }
}
