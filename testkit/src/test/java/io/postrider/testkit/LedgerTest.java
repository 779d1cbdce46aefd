// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

class LedgerTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static PostgresServer postgres;

    private PostgresServer.Database database;
    private DataSource source;
    private Ledger ledger;

    @BeforeAll
    static void start() {
        postgres = PostgresServer.start();
    }

    @AfterAll
    static void close() {
        postgres.close();
    }

    @BeforeEach
    void create() throws SQLException {
        database = postgres.createDatabase();
        source = database.dataSource();
        ledger = Ledger.create(source);
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE event (pos bigserial PRIMARY KEY, id uuid, payload bytea, header text)");
        }
    }

    @Test
    void whatWasCommittedAndDeliveredInOrderIsSound() throws SQLException {
        try (LedgerWriters writers = ledger.writers(LedgerTest::append)
                .events(1_000)
                .keys(10)
                .seed(7)
                .start()) {
            writers.awaitDone(LONG);

            assertThat(writers.committed()).isGreaterThanOrEqualTo(1_000).isEqualTo(ledger.committed());
            assertThat(writers.rolledBack()).isGreaterThan(50);
            assertThat(writers.unknown()).isZero();
        }
        DeliveryLog log = DeliveryLog.inMemory();
        deliver(log);

        LedgerReport report = ledger.check(log);

        long count = ledger.committed();
        assertThat(ledger.awaitDelivered(log, Duration.ZERO)).isTrue();
        assertThat(report.summary())
                .isEqualTo(count + " committed · " + count + " delivered · 0 lost · 0 out of order · 0 duplicates");
        report.assertSound(0);
    }

    @Test
    void theWritersOutliveTheirServerAndTheTableKnowsWhatWasCommitted() throws SQLException {
        try (LedgerWriters writers =
                ledger.writers(LedgerTest::append).threads(4).start()) {
            for (int i = 1; i <= 2; i++) {
                long before = writers.committed();
                Awaitility.await().atMost(LONG).until(() -> writers.committed() > before + 50);
                if (i == 2) {
                    postgres.kill();
                    postgres.startAgain();
                } else {
                    postgres.restartImmediate();
                }
            }
            long before = writers.committed();
            Awaitility.await().atMost(LONG).until(() -> writers.committed() > before + 50);
            writers.stop();

            assertThat(writers.broken()).isPositive();
            assertThat(ledger.committed()).isGreaterThanOrEqualTo(writers.committed());
        }
        DeliveryLog log = DeliveryLog.inMemory();
        deliver(log);
        ledger.check(log).assertSound(0);
    }

    @Test
    void aCommitWhoseAnswerIsLostIsResolvedByTheTable() throws SQLException {
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", postgres.port())) {
            String url = database.url().replace(":" + postgres.port(), ":" + proxy.port());
            PGSimpleDataSource proxied = new PGSimpleDataSource();
            proxied.setUrl(url.replace("socketTimeout=60", "socketTimeout=1"));
            Ledger through = Ledger.open(proxied);
            try (LedgerWriters writers = through.writers(LedgerTest::append)
                    .threads(8)
                    .lateCommits(0, Duration.ZERO)
                    .start()) {
                Awaitility.await().atMost(LONG).until(() -> {
                    long before = writers.committed();
                    proxy.swallowReplies();
                    long broken = writers.broken();
                    Awaitility.await().atMost(LONG).until(() -> writers.broken() > broken);
                    proxy.pass();
                    Awaitility.await().atMost(LONG).until(() -> writers.committed() > before);
                    return writers.unknown() > 0;
                });
                writers.stop();
            }
        }
        // What was sent before its connection was reset may still be committed.
        Awaitility.await().atMost(LONG).until(this::nobodyElseIsThere);
        DeliveryLog log = DeliveryLog.inMemory();
        deliver(log);
        ledger.check(log).assertSound(0);
    }

    @Test
    void anOfferedRateIsKept() {
        long start = System.nanoTime();
        try (LedgerWriters writers = ledger.writers(LedgerTest::append)
                .events(150)
                .rate(300)
                .rollbacks(0)
                .largeTransactions(0, 200)
                .start()) {
            writers.awaitDone(LONG);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(400));
        }
    }

    @Test
    void severalMayAddTheSameKeysAtOnce() throws Exception {
        addBesideAnother(ledger);
    }

    @Test
    void severalMayAddTheSameKeysAtOnceAlsoInRepeatableReads() throws Exception {
        PGSimpleDataSource repeatable = new PGSimpleDataSource();
        repeatable.setUrl(database.url());
        repeatable.setOptions("-c default_transaction_isolation=repeatable\\ read");
        addBesideAnother(Ledger.open(repeatable));
    }

    private void addBesideAnother(Ledger one) throws Exception {
        try (Connection another = source.getConnection();
                Statement statement = another.createStatement()) {
            another.setAutoCommit(false);
            statement.executeUpdate("INSERT INTO ledger_key (name, seq) VALUES ('key', 0)");
            CompletableFuture<Void> adding = CompletableFuture.runAsync(() -> one.addKeys(List.of("key")));
            Awaitility.await().atMost(LONG).until(this::oneWaitsForALock);
            another.commit();

            assertThat(adding).succeedsWithin(LONG);
        }
    }

    private boolean nobodyElseIsThere() throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet others = statement.executeQuery("SELECT FROM pg_stat_activity WHERE datname ="
                        + " current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'")) {
            return !others.next();
        }
    }

    private boolean oneWaitsForALock() throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet waiting = statement.executeQuery(
                        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")) {
            return waiting.next();
        }
    }

    @Test
    void anAppenderThatIsWrongEndsTheWritersWithItsError() {
        try (LedgerWriters writers = ledger.writers((connection, event) -> {
                    throw new OutboxException("no transaction is open");
                })
                .start()) {
            assertThatThrownBy(() -> writers.awaitDone(LONG))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("gave up: no transaction is open");
        }
        assertThat(ledger.committed()).isZero();
    }

    @Test
    void lossIsFound() throws SQLException {
        List<DeliveryLog.Entry> entries = written();
        DeliveryLog.Entry lost = entries.remove(entries.size() / 2);

        LedgerReport report = check(entries);

        assertThat(report.lost()).isEqualTo(1);
        assertThatThrownBy(() -> report.assertSound(0))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("1 lost")
                .hasMessageContaining("lost: event " + lost.eventId());
    }

    @Test
    void aGhostIsFound() throws SQLException {
        List<DeliveryLog.Entry> entries = written();
        DeliveryLog log = logOf(entries);
        UUID ghost = UUID.randomUUID();
        log.record(OutboxEvent.of("ledger", "X").id(ghost).text("boo").build());

        LedgerReport report = ledger.check(log);

        assertThat(report.ghosts()).isEqualTo(1);
        assertThat(report.delivered()).isEqualTo(report.committed());
        assertThatThrownBy(() -> report.assertSound(0))
                .hasMessageContaining("1 ghosts")
                .hasMessageContaining("ghost: event " + ghost);
    }

    @Test
    void swappedEventsOfOneKeyAreFoundAndThoseOfTwoKeysAreNot() throws SQLException {
        List<DeliveryLog.Entry> entries = written();
        int later = 1;
        while (!entries.get(later).key().equals(entries.get(0).key())) {
            later++;
        }
        DeliveryLog.Entry first = entries.get(0);
        entries.set(0, entries.get(later));
        entries.set(later, first);

        LedgerReport report = check(entries);

        assertThat(report.outOfOrder()).isPositive();
        assertThatThrownBy(() -> report.assertSound(0)).hasMessageContaining("out of order: event " + first.eventId());
        report.assertSoundInAnyOrder(0);
        assertThat(report.summaryInAnyOrder()).endsWith(" 0 lost · in any order · 0 duplicates");

        List<DeliveryLog.Entry> byKey = written();
        byKey.sort(Comparator.comparing(DeliveryLog.Entry::key));
        assertThatCode(() -> check(byKey).assertSound(0)).doesNotThrowAnyException();
    }

    @Test
    void duplicatesAreCountedAndAlteredOnesAreFound() throws SQLException {
        List<DeliveryLog.Entry> entries = written();
        DeliveryLog.Entry first = entries.get(0);
        entries.add(first);
        check(entries).assertSound(1);
        assertThatThrownBy(() -> check(entries).assertSound(0))
                .hasMessageContaining("1 duplicates")
                .hasMessageContaining("at most 0 duplicates allowed");

        entries.add(new DeliveryLog.Entry(
                first.eventId(), first.key(), first.seq(), first.payloadHash() + 1, first.headersHash(), first.at()));
        entries.add(new DeliveryLog.Entry(
                first.eventId(), first.key(), first.seq(), first.payloadHash(), first.headersHash() + 1, first.at()));
        LedgerReport report = check(entries);
        assertThat(report.duplicates()).isEqualTo(3);
        assertThat(report.notIdentical()).isEqualTo(2);
        assertThatThrownBy(() -> report.assertSound(3))
                .hasMessageContaining("2 not identical")
                .hasMessageContaining("came with another payload")
                .hasMessageContaining("came with another header");
    }

    @Test
    void aSingleDeliveryWithAnotherPayloadThanTheWrittenOneIsFound() throws SQLException {
        List<DeliveryLog.Entry> entries = written();
        DeliveryLog.Entry e = entries.get(3);
        entries.set(
                3, new DeliveryLog.Entry(e.eventId(), e.key(), e.seq(), e.payloadHash() ^ 1, e.headersHash(), e.at()));

        assertThat(check(entries).notIdentical()).isEqualTo(1);
    }

    private List<DeliveryLog.Entry> written() throws SQLException {
        if (ledger.committed() == 0) {
            try (LedgerWriters writers =
                    ledger.writers(LedgerTest::append).events(60).keys(4).start()) {
                writers.awaitDone(LONG);
            }
        }
        DeliveryLog log = DeliveryLog.inMemory();
        deliver(log);
        return new ArrayList<>(log.entries());
    }

    private LedgerReport check(List<DeliveryLog.Entry> entries) {
        return ledger.check(logOf(entries));
    }

    private static DeliveryLog logOf(List<DeliveryLog.Entry> entries) {
        DeliveryLog log = DeliveryLog.inMemory();
        entries.forEach(log::record);
        return log;
    }

    private static void append(Connection connection, OutboxEvent event) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO event (id, payload, header) VALUES (?, ?, ?)")) {
            insert.setObject(1, event.id());
            insert.setBytes(2, event.payload());
            insert.setString(3, event.headers().get("ledger-seq"));
            insert.executeUpdate();
        }
    }

    /** A relay without faults: positions are taken while the key is locked, so their order is that of the commits. */
    private void deliver(DeliveryLog log) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT id, payload, header FROM event ORDER BY pos")) {
            while (rows.next()) {
                log.record(rows.getObject(1, UUID.class), rows.getBytes(2), Map.of("ledger-seq", rows.getString(3)));
            }
        }
    }
}
