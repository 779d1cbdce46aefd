// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.internal.SettleOneSql;
import io.postrider.relay.Delivery;
import io.postrider.relay.FeedException;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What was planned for a table that was all but empty is planned anew once it is dear. */
class PlansTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final UUID ID = UUID.randomUUID();
    private static final int MANY = 5_000;
    private static final long FEW = 10;
    /** By then the driver has the statement prepared, and the server keeps its plan. */
    private static final int UNTIL_THE_PLAN_IS_KEPT = 12;

    private final AtomicLong ticker = new AtomicLong();

    @BeforeEach
    void allButEmpty() {
        database.execute("ALTER TABLE outbox_event SET (autovacuum_enabled = false); TRUNCATE outbox_event");
        database.execute("INSERT INTO outbox_event (event_id, stream, event_key, event_type) VALUES ('" + ID
                + "', 's', 'k', 'T')");
        database.execute("ANALYZE outbox_event");
    }

    @Test
    void aSessionPlansAnewAfterADearStatement() {
        try (Session session = new Session(database.dataSource(), Duration.ofSeconds(30), ticker::get)) {
            for (int i = 0; i < UNTIL_THE_PLAN_IS_KEPT; i++) {
                rowsRead(session, Duration.ZERO);
            }
            manyMore();
            assertThat(rowsRead(session, Duration.ofMillis(49)))
                    .as("the danger: all are read to find one")
                    .isGreaterThan(MANY);
            assertThat(rowsRead(session, Duration.ofMillis(50))).isGreaterThan(MANY);
            assertThat(rowsRead(session, Duration.ZERO)).isLessThan(FEW);
        }
    }

    @Test
    void whatIsDearAnywayIsNotPlannedEachTime() {
        try (Session session = new Session(database.dataSource(), Duration.ofSeconds(30), ticker::get)) {
            rowsRead(session, Duration.ofMillis(50));
            for (int i = 0; i < UNTIL_THE_PLAN_IS_KEPT; i++) {
                rowsRead(session, Duration.ofMillis(50));
            }
            manyMore();
            assertThat(rowsRead(session, Duration.ofMillis(50))).isGreaterThan(MANY);
            assertThat(rowsRead(session, Duration.ofSeconds(10)))
                    .as("within ten seconds")
                    .isGreaterThan(MANY);
            assertThat(rowsRead(session, Duration.ZERO)).as("after them").isLessThan(FEW);
        }
    }

    @Test
    void alsoAfterOneThatFailed() throws Exception {
        // It gives the same connection again, as a pool does.
        try (OpenTransaction pool = database.begin();
                Session session = new Session(pool.dataSource(), Duration.ofSeconds(30), ticker::get)) {
            for (int i = 0; i < UNTIL_THE_PLAN_IS_KEPT; i++) {
                rowsRead(session, Duration.ZERO);
            }
            manyMore();
            assertThatThrownBy(() -> session.run("settle", connection -> {
                        ticker.addAndGet(Duration.ofMillis(50).toNanos());
                        throw new SQLException("canceling statement due to statement timeout");
                    }))
                    .isInstanceOf(FeedException.class);
            assertThat(rowsRead(session, Duration.ZERO)).isLessThan(FEW);
        }
    }

    @Test
    void soDoesTheConnectionOfAHandler() throws Exception {
        AtomicLong took = new AtomicLong();
        Settlement settlement = new Settlement(
                Party.SQL, new SettleOneSql(TableNames.ofDefaults()), "test", () -> ticker.addAndGet(took.get()));
        Delivery one = delivery();
        try (Connection connection = database.connect()) {
            for (int i = 0; i < UNTIL_THE_PLAN_IS_KEPT; i++) {
                rowsRead(connection, () -> settlement.settle(connection, List.of(one)));
            }
            manyMore();
            took.set(Duration.ofMillis(50).toNanos());
            assertThat(rowsRead(connection, () -> settlement.settle(connection, List.of(one))))
                    .isGreaterThan(MANY);
            assertThat(rowsRead(connection, () -> settlement.settle(connection, List.of(one))))
                    .isLessThan(FEW);
        }
    }

    private long rowsRead(Session session, Duration took) {
        Delivery one = delivery();
        return session.run("settle", connection -> {
            ticker.addAndGet(took.toNanos());
            return rowsRead(
                    connection, () -> Settling.settle(connection, Party.SQL.settleWithHistory, List.of(one), "test"));
        });
    }

    @FunctionalInterface
    private interface Statement {
        void run() throws SQLException;
    }

    /** How many rows of the table it reads. */
    private static long rowsRead(Connection connection, Statement statement) throws SQLException {
        connection.setAutoCommit(false);
        try {
            long before = rowsReadSoFar(connection);
            statement.run();
            return rowsReadSoFar(connection) - before;
        } finally {
            connection.rollback();
            connection.setAutoCommit(true);
        }
    }

    /** What the server has not counted elsewhere yet, which it does between transactions. */
    private static long rowsReadSoFar(Connection connection) throws SQLException {
        try (ResultSet row = connection
                .createStatement()
                .executeQuery("SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0) FROM pg_stat_xact_user_tables"
                        + " WHERE relname = 'outbox_event'")) {
            row.next();
            return row.getLong(1);
        }
    }

    private static Delivery delivery() {
        OutboxEvent event = OutboxEvent.of("s", "T").id(ID).key("k").build();
        return new Delivery(
                database.number("SELECT id FROM outbox_event WHERE event_id = '" + ID + "'"),
                0,
                0,
                event,
                new ShardClaim(0, 0, true, 0, new Ownership()));
    }

    private static void manyMore() {
        database.execute("INSERT INTO outbox_event (stream, event_key, event_type)"
                + " SELECT 's', 'k' || n, 'T' FROM generate_series(1, " + MANY + ") n");
    }
}
