// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxException;
import io.postrider.ops.Retention;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Old history goes, in each of three ways, and nothing else. */
class RetentionTest {
    private static final int ROWS = 20_000;
    private static final String LOCK_NOT_AVAILABLE = "55P03";
    private TestDatabase database;

    @BeforeEach
    void fill() {
        database = TestDatabase.migrated();
        for (int age : List.of(12, 11)) {
            database.execute("DO $$ DECLARE day date := (clock_timestamp() AT TIME ZONE 'UTC')::date - " + age
                    + "; part text := 'outbox_history_' || to_char(day, 'YYYYMMDD'); BEGIN"
                    + " EXECUTE format('CREATE TABLE %I (LIKE outbox_history INCLUDING ALL)', part);"
                    + " EXECUTE format('ALTER TABLE outbox_history ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', part,"
                    + " day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC'); END $$");
            insert("outbox_history", ROWS / 2, age);
        }
        insert("outbox_history_overflow", 500, 12);
        insert("outbox_history_overflow", 3, 0);
        insert("outbox_history", 7, 0);
        database.execute(
                "CREATE TABLE expected AS SELECT * FROM outbox_history WHERE settled_at < now() - interval '7 days'"
                        + " UNION ALL SELECT * FROM outbox_history_overflow WHERE settled_at < now() - interval '7 days'");
        database.event("s", "k", "status = 'DEAD', holds = true, created_at = now() - interval '1 year'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"drop", "delete", "archive"})
    void goesWhileOthersSettleAndNobodyWaitsForALockFor100Milliseconds(String mode) throws Exception {
        // A session that stands still with a lock keeps others waiting: one try in which nobody waits shows that it can
        // be.
        for (int tries = 1; !goesAndNobodyWaits(mode); tries++) {
            assertThat(tries).as("tries in which somebody waited").isLessThan(5);
            fill();
        }
    }

    private boolean goesAndNobodyWaits(String mode) throws Exception {
        CountDownLatch writing = new CountDownLatch(2);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger written = new AtomicInteger();
        List<CompletableFuture<Boolean>> writers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            writers.add(CompletableFuture.supplyAsync(() -> settle(writing, stop, written)));
        }
        writing.await();
        Retention.Result result = retention(mode).run();
        stop.set(true);
        boolean waited = result.busy();
        for (CompletableFuture<Boolean> writer : writers) {
            waited |= !writer.get();
        }
        if (waited) {
            return false;
        }
        assertThat(result.partitionsDropped()).isEqualTo(mode.equals("drop") ? 2 : 0);
        assertThat(result.rowsDeleted()).isEqualTo(mode.equals("drop") ? 500 : mode.equals("delete") ? ROWS + 500 : 0);
        assertThat(result.rowsArchived()).isEqualTo(mode.equals("archive") ? ROWS + 500 : 0);
        assertThat(database.number("SELECT count(*) FROM outbox_history")).isEqualTo(7 + written.get());
        assertThat(database.number("SELECT count(*) FROM outbox_history_overflow"))
                .isEqualTo(3);
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isEqualTo(1);
        if (mode.equals("archive")) {
            assertThatAllIsArchivedOnce();
        }
        assertThat(retention(mode).run()).isEqualTo(new Retention.Result(0, 0, 0, 0, false));
        return true;
    }

    @Test
    void whatHasToWaitForALockWaits100MillisecondsAtMost() {
        assertThat(database.column("SELECT proname || ' ' || array_to_string(proconfig, ' ') FROM pg_proc"
                        + " WHERE proname IN ('outbox_history_drop', 'outbox_history_trim', 'outbox_audit_prune')"))
                .hasSize(3)
                .allMatch(each -> each.contains("lock_timeout=100ms"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"delete", "archive"})
    void whatSomebodyHasLockedIsLeftForTheNextRun(String mode) throws Exception {
        try (Connection other = database.connect();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT FROM outbox_history WHERE id = " + ROWS / 4 + " FOR UPDATE");
            assertThat(retention(mode).run().busy()).isTrue();
            other.rollback();
        }
        assertThat(retention(mode).run().busy()).isFalse();
        assertThat(database.number("SELECT count(*) FROM outbox_history")).isEqualTo(7);
        if (mode.equals("archive")) {
            assertThatAllIsArchivedOnce();
        }
    }

    @Test
    void whoeverIsKilledWhileArchivingNothingIsLostOrDoubled() {
        AtomicInteger failures = new AtomicInteger();
        archiveAndKill(failures);
        for (int more = 0; more < 10 && failures.get() == 0; more++) {
            // All was archived before anybody could be killed.
            fill();
            archiveAndKill(failures);
        }
        assertThat(failures.get()).isPositive();
        assertThatAllIsArchivedOnce();
        assertThat(database.number("SELECT count(*) FROM outbox_history")).isEqualTo(7);
    }

    private void archiveAndKill(AtomicInteger failures) {
        CompletableFuture<Void> archiving = CompletableFuture.runAsync(() -> {
            while (true) {
                try {
                    retention("archive").run();
                    return;
                } catch (OutboxException e) {
                    failures.incrementAndGet();
                }
            }
        });
        long before = -1;
        for (int kill = 0; kill < 5 && !archiving.isDone(); ) {
            long archived = database.number("SELECT count(*) FROM outbox_archive");
            if (archived > before) {
                database.endSessions();
                before = archived;
                kill++;
            }
        }
        archiving.join();
    }

    @Test
    void severalWhoArchiveAtOnceMoveEachRowOnce() {
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            all.add(CompletableFuture.runAsync(() -> {
                while (retention("archive").run().busy()) {}
            }));
        }
        all.forEach(CompletableFuture::join);
        assertThatAllIsArchivedOnce();
    }

    @Test
    void theAuditTableIsPrunedToo() {
        database.execute(
                "INSERT INTO outbox_audit (at, who, action, stream, reason) VALUES"
                        + " (now() - interval '366 days', 'kim', 'a', 's', 'r'), (now() - interval '364 days', 'kim', 'b', 's', 'r')");
        assertThat(retention("drop").run().rowsDeleted()).isEqualTo(501);
        assertThat(database.column("SELECT action FROM outbox_audit")).containsExactly("b");
        assertThatThrownBy(() -> retention("drop").keepAudit(Duration.ofDays(29)))
                .hasMessage("To keep the audit table for PT696H is too short: 30 days at least.");
        database.execute(
                "SELECT outbox_audit_prune(interval '0'); INSERT INTO outbox_audit (who, action, stream, reason)"
                        + " VALUES ('kim', 'c', 's', 'r'); SELECT outbox_audit_prune(interval '0')");
        assertThat(database.column("SELECT action FROM outbox_audit")).containsExactly("c");
    }

    private Retention retention(String mode) {
        Retention retention = new Retention(database.dataSource(), TableNames.ofDefaults(), Duration.ofDays(7));
        return switch (mode) {
            case "delete" -> retention.deleting();
            case "archive" -> retention.archiving();
            default -> retention;
        };
    }

    private void assertThatAllIsArchivedOnce() {
        assertThat(database.number("SELECT count(*) FROM expected")).isEqualTo(ROWS + 500);
        assertThat(database.number(
                        "SELECT count(*) FROM (SELECT * FROM expected EXCEPT ALL SELECT * FROM outbox_archive) x"))
                .isZero();
        assertThat(database.number(
                        "SELECT count(*) FROM (SELECT * FROM outbox_archive EXCEPT ALL SELECT * FROM expected) x"))
                .isZero();
    }

    /** False if it had to wait for a lock for too long. */
    private boolean settle(CountDownLatch writing, AtomicBoolean stop, AtomicInteger written) {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("SET lock_timeout = '100ms'");
            do {
                statement.execute(row("outbox_history", 1, 0));
                written.incrementAndGet();
                writing.countDown();
            } while (!stop.get());
            return true;
        } catch (SQLException e) {
            writing.countDown();
            if (LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                return false;
            }
            throw new IllegalStateException(e);
        }
    }

    private void insert(String table, int rows, int daysAgo) {
        database.execute(row(table, rows, daysAgo));
    }

    private static String row(String table, int rows, int daysAgo) {
        return "INSERT INTO " + table + " (id, event_id, stream, event_key, event_type, payload, payload_kept, headers,"
                + " occurred_at, attempt_count, created_at, outcome, settled_at, settled_by) SELECT n, gen_random_uuid(), 's',"
                + " 'k', 'T', 'payload', true, '{}', now(), 0, now(), 'PUBLISHED', ((clock_timestamp() AT TIME ZONE"
                + " 'UTC')::date - " + daysAgo + ")::timestamp AT TIME ZONE 'UTC' + interval '1 minute', 'r'"
                + " FROM generate_series(1, " + rows + ") n";
    }
}
