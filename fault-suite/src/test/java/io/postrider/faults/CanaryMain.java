// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.jdbc.OrderedFeed;
import io.postrider.jdbc.StreamSettings;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.ops.DeadLetter;
import io.postrider.ops.DeadLetterQuery;
import io.postrider.ops.DeadLetters;
import io.postrider.relay.DestinationDownException;
import io.postrider.relay.NotSentException;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import io.postrider.relay.RetryPolicy;
import io.postrider.relay.RetryableFailureException;
import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Fails in every way while it knows secrets, each of which has the word canary in it. What it prints and logs, at all
 * levels, is looked through by {@link CanariesTest}.
 */
public final class CanaryMain {
    static final String CANARY = "canary";
    private static final String BAD_URL = "jdbc:nowhere://db/shop?user=shop&password=canary-url";
    private static final List<String> KINDS = List.of("retryable", "permanent", "unknown", "down", "not-sent", "fine");

    private final DataSource source;
    private final JdbcOutbox outbox;
    private final AtomicInteger sends = new AtomicInteger();

    private CanaryMain(DataSource source) {
        this.source = source;
        this.outbox = JdbcOutbox.of(source);
    }

    /** Takes the URL of a migrated database. */
    public static void main(String[] args) throws Exception {
        PGSimpleDataSource byUrl = new PGSimpleDataSource();
        byUrl.setUrl(args[0] + "&password=canary-database-url");
        PGSimpleDataSource byProperty = new PGSimpleDataSource();
        byProperty.setUrl(args[0]);
        byProperty.setPassword("canary-database-property");
        new CanaryMain(byUrl).deliverAndFail();
        new CanaryMain(byProperty).haveTheDatabaseRefuse();
        failToConnect();
        failToReachKafka();
        System.out.println("end");
        System.exit(0);
    }

    private void deliverAndFail() {
        KINDS.forEach(kind -> outbox.transact(tx -> tx.append(event(kind))));
        try (Relay relay = relay()) {
            relay.start();
            Rig.await("all have ended in their way", () -> relay.publishedCount() == 3 && dead().size() == 3);
        }
        List<DeadLetter> dead = dead();
        DeadLetters letters = DeadLetters.of(source);
        show(dead, letters.attempts(dead.get(0).eventId()), event("shown"), outbox, OrderedFeed.of(source), source);
    }

    /** The rows that the database quotes hold payload and headers. */
    private void haveTheDatabaseRefuse() throws SQLException {
        execute("ALTER TABLE outbox_event ADD CONSTRAINT no_such_type CHECK (event_type <> 'refused')");
        failing(() -> outbox.transact(tx -> tx.append(event("refused"))));
        execute("ALTER TABLE outbox_history ADD CONSTRAINT not_yet CHECK (stream <> 'late')");
        execute("ALTER TABLE outbox_history_overflow ADD CONSTRAINT not_yet CHECK (stream <> 'late')");
        outbox.transact(tx -> tx.append(event("late")));
        try (Relay relay = relay()) {
            relay.start();
            // Whoever reads the log says when it is seen there that it could not be settled.
            awaitWord();
            execute("ALTER TABLE outbox_history DROP CONSTRAINT not_yet");
            Rig.await("what could not be settled is", () -> relay.publishedCount() == 1);
        }
    }

    private static void awaitWord() {
        try {
            int unused = System.in.read();
        } catch (IOException e) {
            throw new UncheckedIOException("Nobody says how to go on", e);
        }
    }

    private static void failToConnect() {
        DataSource quoting = (DataSource) Proxy.newProxyInstance(
                CanaryMain.class.getClassLoader(), new Class<?>[] {DataSource.class}, (self, method, args) -> {
                    throw new SQLException("No suitable driver found for " + BAD_URL, "08001");
                });
        failing(() -> JdbcOutbox.of(quoting).transact(tx -> tx.append(event("any"))));
        failing(() -> DeadLetters.of(quoting).find(DeadLetterQuery.all()));
        failing(() -> Schema.of(quoting).apply(SchemaMode.VALIDATE));
        failing(() -> Relay.from(OrderedFeed.of(quoting))
                .to(event -> CompletableFuture.completedFuture(null))
                .build()
                .start());
    }

    private static void failToReachKafka() {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers",
                "127.0.0.1:1",
                "security.protocol",
                "SASL_PLAINTEXT",
                "sasl.mechanism",
                "PLAIN",
                "max.block.ms",
                "500",
                "sasl.jaas.config",
                "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\""
                        + " password=\"canary-jaas\";");
        try (KafkaPublisher publisher = KafkaPublisher.builder(settings)
                .sendTimeout(Duration.ofSeconds(2))
                .build()) {
            show(publisher);
            failing(() ->
                    publisher.publish(event("kafka")).toCompletableFuture().join());
        }
        failing(() -> KafkaPublisher.create(
                Map.of("bootstrap.servers", "127.0.0.1:1", "acks", "1", "ssl.key.password", "canary-key")));
    }

    private Relay relay() {
        Publisher publisher = this::answer;
        StreamSettings[] streams = KINDS.stream().map(StreamSettings::of).toArray(StreamSettings[]::new);
        return Relay.from(OrderedFeed.builder(source).streams(streams).build())
                .to(publisher)
                .retry(RetryPolicy.delays(Duration.ofMillis(10)).attempts(2))
                .listener(new Printer())
                .build();
    }

    private CompletionStage<?> answer(OutboxEvent event) {
        Exception cause = new IllegalStateException("canary-cause");
        return switch (event.stream()) {
            case "retryable" -> failed(new RetryableFailureException("BUSY", "busy", cause));
            case "permanent" -> failed(new PermanentFailureException("BAD", "bad", cause));
            case "unknown" ->
                failed(new IllegalStateException(
                        "POST https://u:canary-user@host?token=canary-token failed for " + event, cause));
            case "down" ->
                sends.incrementAndGet() < 3
                        ? failed(new DestinationDownException("DOWN", "down", cause))
                        : CompletableFuture.completedFuture("canary-answer");
            case "not-sent" ->
                sends.incrementAndGet() < 3
                        ? failed(new NotSentException("NOT_SENT", "not sent"))
                        : CompletableFuture.completedFuture("canary-answer");
            default -> CompletableFuture.completedFuture("canary-answer");
        };
    }

    private static CompletionStage<?> failed(Exception failure) {
        return CompletableFuture.failedFuture(failure);
    }

    private static OutboxEvent event(String kind) {
        return OutboxEvent.of(kind, kind)
                .key("k")
                .header("customer", "canary-header")
                .text("canary-payload")
                .build();
    }

    private List<DeadLetter> dead() {
        return DeadLetters.of(source).find(DeadLetterQuery.all());
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static void failing(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException e) {
            show(e, e.getCause() instanceof RuntimeException cause ? cause : "");
            return;
        }
        throw new AssertionError("This should have failed");
    }

    private static void show(Object... things) {
        for (Object thing : things) {
            System.out.println("shown " + thing);
        }
    }

    private static final class Printer implements RelayListener {
        @Override
        public void published(OutboxEvent event, Duration took) {
            show(event);
        }

        @Override
        public void retrying(OutboxEvent event, int failed, Duration delay, String code, String message) {
            show(event, code, message);
        }

        @Override
        public void dead(OutboxEvent event, int failed, String code, String message) {
            show(event, code, message);
        }

        @Override
        public void outageStarted(String stream, String code, String message) {
            show(stream, code, message);
        }
    }
}
