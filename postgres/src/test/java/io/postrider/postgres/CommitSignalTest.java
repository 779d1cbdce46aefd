// SPDX-License-Identifier: Apache-2.0
package io.postrider.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.postrider.relay.Bell;
import io.postrider.table.TableNames;
import io.postrider.testkit.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

class CommitSignalTest {
    private static final PostgresServer SERVER =
            PostgresServer.builder().fsync(false).start();
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final List<AutoCloseable> open = new ArrayList<>();
    private final AtomicInteger rings = new AtomicInteger();
    private final Bell here = new Bell();
    private final Bell there = new Bell();
    private DataSource database;

    @BeforeEach
    void create() {
        database = SERVER.createDatabase().dataSource();
        there.onRing(rings::incrementAndGet);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    @AfterAll
    static void stop() {
        SERVER.close();
    }

    @Test
    void aRingHereIsHeardThere() {
        opened(CommitSignal.of(database, here).onlySends());
        opened(CommitSignal.of(database, there).onlyReceives());
        int before = awaitListening();
        here.ring();
        await().atMost(PATIENCE).until(() -> rings.get() == before + 1);
    }

    @Test
    void whatIsHeardIsNeitherToldAgainNorHeardByWhoSaidIt() throws Exception {
        AtomicInteger echoes = new AtomicInteger();
        here.onRing(echoes::incrementAndGet);
        opened(CommitSignal.of(database, here));
        opened(CommitSignal.of(database, there));
        int before = awaitListening();
        await().atMost(PATIENCE).until(() -> echoes.get() == 1);
        try (Connection spy = listening("postrider")) {
            here.ring();
            await().atMost(PATIENCE).until(() -> rings.get() == before + 1);
            assertThat(notifications(spy, Duration.ofMillis(500))).isEqualTo(1);
        }
        assertThat(echoes).hasValue(2);
        assertThat(rings).hasValue(before + 1);
    }

    @Test
    void manyRingsAreFewNotifications() throws Exception {
        opened(CommitSignal.of(database, here).onlySends());
        try (Connection spy = listening("postrider")) {
            long start = System.nanoTime();
            for (int i = 0; i < 100_000; i++) {
                here.ring();
            }
            long most = Duration.ofNanos(System.nanoTime() - start).toMillis() / 2 + 2;
            assertThat(notifications(spy, Duration.ofSeconds(1))).isBetween(1, (int) most);
        }
    }

    @Test
    void whatIsHandedOverNeedsNoNotification() throws Exception {
        opened(CommitSignal.of(database, here).onlySends());
        try (Connection spy = listening("postrider")) {
            here.handOver(List.of());
            here.ring();
            assertThat(notifications(spy, Duration.ofMillis(500))).isEqualTo(1);
        }
    }

    @Test
    void aSessionThatIsLostIsReplacedAndTheBellRungForWhatWasMissed() throws Exception {
        opened(CommitSignal.of(database, there).onlyReceives());
        int before = awaitListening();
        endSessions();
        await().atMost(PATIENCE).until(() -> rings.get() == before + 1);
        opened(CommitSignal.of(database, here).onlySends());
        here.ring();
        await().atMost(PATIENCE).until(() -> rings.get() == before + 2);
        endSessions();
        await().atMost(PATIENCE).until(() -> rings.get() == before + 3);
        here.ring();
        await().atMost(PATIENCE).until(() -> {
            here.ring();
            return rings.get() > before + 3;
        });
    }

    @Test
    void aServerThatWasDemotedIsLeft() throws Exception {
        try (Connection admin = database.getConnection();
                Statement statement = admin.createStatement()) {
            String name = admin.getCatalog();
            statement.execute("ALTER DATABASE " + name + " SET default_transaction_read_only = on");
            opened(CommitSignal.of(database, there).onlyReceives());
            opened(CommitSignal.of(database, here).onlySends());
            try (Connection spy = listening("postrider")) {
                here.ring();
                // It is sent before it turns out where to.
                assertThat(notifications(spy, Duration.ofMillis(300))).isPositive();
                assertThat(rings).hasValue(0);
            }
            statement.execute("ALTER DATABASE " + name + " RESET default_transaction_read_only");
            await().atMost(PATIENCE).until(() -> rings.get() > 0);
        }
    }

    @Test
    void tablesInASchemaOfTheirOwnHaveAChannelOfTheirOwn() throws Exception {
        opened(CommitSignal.of(database, here).tables(new TableNames("shop")).onlySends());
        try (Connection spy = listening("postrider_shop")) {
            here.ring();
            assertThat(notifications(spy, Duration.ofSeconds(1))).isEqualTo(1);
        }
    }

    @Test
    void nothingToDoIsRefused() {
        CommitSignal.Builder nothing =
                CommitSignal.of(database, here).onlySends().onlyReceives();
        assertThatThrownBy(nothing::start).hasMessageContaining("leave nothing to do");
    }

    private void opened(CommitSignal.Builder signal) {
        open.add(signal.start());
    }

    /** The first ring over there says that it listens; returns the count of rings. */
    private int awaitListening() {
        await().atMost(PATIENCE).until(() -> rings.get() == 1);
        return 1;
    }

    private Connection listening(String channel) throws SQLException {
        Connection connection = database.getConnection();
        try (Statement statement = connection.createStatement()) {
            statement.execute("LISTEN " + channel);
        }
        return connection;
    }

    private static int notifications(Connection spy, Duration patience) throws SQLException {
        PGConnection session = spy.unwrap(PGConnection.class);
        int count = 0;
        PGNotification[] heard = session.getNotifications((int) PATIENCE.toMillis());
        while (heard != null && heard.length > 0) {
            count += heard.length;
            heard = session.getNotifications((int) patience.toMillis());
        }
        return count;
    }

    private void endSessions() {
        number("SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
                + " WHERE datname = current_database() AND pid <> pg_backend_pid()");
    }

    private int number(String sql) {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getInt(1);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }
}
