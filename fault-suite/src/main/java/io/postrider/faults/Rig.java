// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.jdbc.JdbcOutbox;
import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.testkit.DeliveryLog;
import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.KafkaTap;
import io.postrider.testkit.Ledger;
import io.postrider.testkit.LedgerReport;
import io.postrider.testkit.LedgerWriters;
import io.postrider.testkit.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * One fault test's own database and topic, its ledger, the tap on the topic, and its relays.
 *
 * <pre>{@code
 * try (Rig rig = Rig.on(servers, "T03 takeover")) {
 *     RelayChild relay = rig.start(rig.relay("a"));
 *     LedgerWriters writers = rig.writers().rate(500).start();
 *     ... break things, and say so with rig.fault(..) ...
 *     rig.assertSound(writers, 200);
 * }
 * }</pre>
 *
 * <p>Prints one line at the end, and ends what it has started. For one thread, except where said.
 */
public final class Rig implements AutoCloseable {
    /** How long a test waits for what must come; long, as machines are loaded. */
    public static final Duration PATIENCE = Duration.ofSeconds(90);

    /** Whether to test with the product's defaults and long outages: the system property {@code faults.long}. */
    public static final boolean LONG = Boolean.getBoolean("faults.long");

    private static final int LARGEST_FETCH = 64 << 20;
    private static final AtomicInteger TOPICS = new AtomicInteger();

    private final String test;
    private final Servers servers;
    private final long seed;
    private final PostgresServer.Database database;
    private final String stream;
    private final DeliveryLog log = DeliveryLog.inMemory();
    private final KafkaTap tap;
    private final Ledger ledger;
    private final RigJudge judge;
    private final List<AutoCloseable> started = new CopyOnWriteArrayList<>();
    private final List<String> faults = new ArrayList<>();
    private final List<String> figures = new ArrayList<>();
    private String result = "FAILED";

    /** What a rig stands on. */
    public record Servers(PostgresServer postgres, KafkaServer kafka) {}

    private Rig(String test, Servers servers, PostgresServer.Database database, Map<String, String> topicSettings) {
        this.test = test;
        this.servers = servers;
        this.seed = Long.getLong("faults.seed", System.nanoTime() & 0xffffff);
        this.database = database;
        this.stream = "ledger-" + TOPICS.incrementAndGet();
        if (Schema.of(database.dataSource()).version() == 0) {
            Schema.of(database.dataSource()).apply(SchemaMode.MIGRATE);
        }
        this.ledger = Ledger.create(database.dataSource());
        RigUsers.grant(database.dataSource());
        servers.kafka().createTopic(stream, 4, topicSettings);
        this.tap = startTap(log, stream);
        this.judge = new RigJudge(this, tap);
    }

    /** A rig with a database and a topic of its own on these servers. */
    public static Rig on(Servers servers, String test) {
        return on(servers, test, Map.of());
    }

    /**
     * A rig with this database of the server, as it is reached by all: straight, or through something. It is empty, or has
     * the product's tables.
     */
    public static Rig on(Servers servers, PostgresServer.Database database, String test) {
        return new Rig(test, servers, database, Map.of());
    }

    /** The same, with settings of the topic such as {@code max.message.bytes}. */
    public static Rig on(Servers servers, String test, Map<String, String> topicSettings) {
        return new Rig(test, servers, servers.postgres().createDatabase(), topicSettings);
    }

    /** What random choices are drawn from: the system property {@code faults.seed}, else another each time. */
    public long seed() {
        return seed;
    }

    public String stream() {
        return stream;
    }

    public DataSource dataSource() {
        return database.dataSource();
    }

    public Ledger ledger() {
        return ledger;
    }

    /** Where a consumer with the rights of its role logs in. */
    public String consumerUrl() {
        return RigUsers.consumerUrl(database);
    }

    public String bootstrapServers() {
        return servers.kafka().bootstrapServers();
    }

    /** What has arrived in the topic. */
    public DeliveryLog log() {
        return log;
    }

    /** What arrives in another topic, which need not be there yet. Ended with the rig. */
    public DeliveryLog tap(String topic) {
        DeliveryLog other = DeliveryLog.inMemory();
        closing(startTap(other, topic));
        return other;
    }

    private KafkaTap startTap(DeliveryLog into, String topic) {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", servers.kafka().directBootstrapServers(),
                "max.partition.fetch.bytes", LARGEST_FETCH,
                "fetch.max.bytes", LARGEST_FETCH);
        return KafkaTap.start(settings, into, topic);
    }

    /** Starts a relay in this JVM; ended with the rig. */
    public Relay startHere(RelaySetup setup) {
        Relay relay = closing(RelayProcess.relay(setup, Trap.counting(), new RelayListener() {}));
        relay.start();
        return relay;
    }

    /** Starts a relay in this JVM that gets its connections from here; ended with the rig. */
    public Relay startOn(DataSource connections, RelaySetup setup) {
        Relay relay = closing(RelayProcess.relay(setup, connections));
        relay.start();
        return relay;
    }

    /** Unruly writers to this rig's stream, with this rig's seed; ended with the rig. */
    public LedgerWriters start(LedgerWriters.Builder writers) {
        LedgerWriters running = writers.start();
        judge.watch(running);
        return closing(running);
    }

    public LedgerWriters.Builder writers() {
        JdbcOutbox outbox = outbox();
        return writers(writer(), (connection, event) -> outbox.on(connection).append(event));
    }

    /** The same with connections from here, and with something else that appends. */
    public LedgerWriters.Builder writers(DataSource source, Ledger.Appender appender) {
        return Ledger.open(source).writers(appender).stream(stream)
                .seed(seed)
                .threads(2)
                .largeTransactions(0.01, 50);
    }

    /** Where a writer with the rights of its role logs in. */
    public PGSimpleDataSource writer() {
        return RigUsers.writer(database);
    }

    /** An outbox with the rights of a writer. */
    public JdbcOutbox outbox() {
        return JdbcOutbox.of(writer());
    }

    /** The setup of a relay between this rig's database and topic, with the product's defaults. */
    public RelaySetup relay(String name) {
        return new RelaySetup(name, RigUsers.relayUrl(database), servers.kafka().bootstrapServers(), Map.of());
    }

    /** The same with a lease of 2 s, so that others take over soon; with {@code --long} as {@link #relay}. */
    public RelaySetup quickRelay(String name) {
        return LONG ? relay(name) : relay(name).lease(Duration.ofSeconds(2));
    }

    /** The setup of an application that writes to this rig's stream and publishes on commit, with a lease as above. */
    public RelaySetup application(String name, int rate) {
        return quickRelay(name).writes(RigUsers.committerUrl(database), stream, rate, seed + name.hashCode());
    }

    /** When, after this moment, the first event was settled by a relay of this name pattern; empty if none was. */
    public Optional<Instant> firstSettled(String relay, Instant after) {
        try (Connection connection = dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement("""
                        SELECT min(settled_at) FROM outbox_history WHERE settled_by LIKE ? AND settled_at > ?""")) {
            statement.setString(1, relay);
            statement.setObject(2, after.atOffset(ZoneOffset.UTC));
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return Optional.ofNullable(rows.getObject(1, OffsetDateTime.class))
                        .map(OffsetDateTime::toInstant);
            }
        } catch (SQLException e) {
            throw new IllegalStateException("The history could not be read", e);
        }
    }

    /** Waits until something is settled after this moment, and returns how long after it that was. */
    public Duration awaitSettled(Instant after) {
        await("something is settled again", () -> firstSettled("%", after).isPresent());
        return Duration.between(after, firstSettled("%", after).orElseThrow());
    }

    /** Starts a relay in a process of its own; {@link RelayChild#awaitStarted} waits for it. Ended with the rig. */
    public RelayChild start(RelaySetup setup, String... jvmOptions) {
        RelayChild child = RelayChild.start(setup, jvmOptions);
        started.add(child);
        return child;
    }

    /** Has this ended with the rig, before what was given earlier. */
    public <T extends AutoCloseable> T closing(T what) {
        started.add(what);
        return what;
    }

    /** Some events are refused, or given up as deadly, so attempts are counted; everywhere else none may be. */
    public Rig refuses() {
        judge.allow(RigJudge.Allowed.ATTEMPTS);
        return this;
    }

    /** The database, or the way to it, is broken on purpose, so that transactions of the writers fail. */
    public Rig breaksTheDatabase() {
        judge.allow(RigJudge.Allowed.FAILED_WRITERS);
        return this;
    }

    /** Notes what was broken, for the line at the end. */
    public void fault(String what) {
        faults.add(what);
    }

    /** Notes something that was measured, for the line at the end. */
    public void figure(String name, Duration value) {
        figures.add(name + " " + value.toMillis() + " ms");
    }

    /** Notes something that was counted or measured, for the line at the end. */
    public void figure(String text) {
        figures.add(text);
    }

    /** The first column of the first row. */
    public long number(String sql) {
        return Long.parseLong(texts(sql).get(0));
    }

    /** The first column of the first row. */
    public double decimal(String sql) {
        return Double.parseDouble(texts(sql).get(0));
    }

    /** When the last event was settled. */
    public Instant lastSettled() {
        return Instant.ofEpochMilli(
                number("SELECT (extract(epoch FROM max(settled_at)) * 1000)::bigint FROM outbox_history"));
    }

    /** The first column, as text. */
    public List<String> texts(String sql) {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(String.valueOf(rows.getString(1)));
            }
            return values;
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** As the owner of the tables. */
    public void execute(String sql) {
        execute(dataSource(), sql);
    }

    /** With the rights of a writer. */
    public void write(String sql) {
        execute(writer(), sql);
    }

    private static void execute(DataSource source, String sql) {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /**
     * Waits until everything that was committed has been delivered and settled, and checks it against the ledger. The
     * writers must have ended.
     */
    public LedgerReport assertSound(long maxDuplicates) {
        return judge.check(LedgerReport::summary, report -> report.assertSound(maxDuplicates));
    }

    /** The same for a stream that keeps no order. */
    public LedgerReport assertSoundInAnyOrder(long maxDuplicates) {
        return judge.check(LedgerReport::summaryInAnyOrder, report -> report.assertSoundInAnyOrder(maxDuplicates));
    }

    String test() {
        return test;
    }

    void result(String counts) {
        result = counts;
    }

    /** For a test that does not go by the ledger: it has passed, and this is what happened. */
    public void passed(String summary) {
        result = summary;
    }

    /**
     * Waits for something that must come to be.
     *
     * @throws AssertionError if it does not within {@link #PATIENCE}
     */
    public static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("Waited " + PATIENCE + " in vain until " + what);
            }
            pause(Duration.ofMillis(10));
        }
    }

    /** Sleeps; not at all where the time has passed already. */
    public static void pause(Duration duration) {
        try {
            Thread.sleep(Math.max(0, duration.toMillis()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted", e);
        }
    }

    /** Ends what was started, the latest first, and prints the line. */
    @Override
    public void close() {
        List<AutoCloseable> latestFirst = new ArrayList<>(started);
        Collections.reverse(latestFirst);
        for (AutoCloseable each : latestFirst) {
            try {
                each.close();
            } catch (Exception e) {
                System.out.println(test + ": could not end " + each + ": " + e);
            }
        }
        tap.close();
        judge.close();
        ResultLines.add(new ResultLines.Line(
                test, String.valueOf(seed), String.join(", ", faults), result, String.join(", ", figures)));
    }
}
