// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.testkit.PostgresServer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Where a look at all rows begins: never behind a row that is there, or that may still come. */
class FrontRaceTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final String LATE =
            "INSERT INTO outbox_event (stream, event_key, event_type) VALUES ('s', 'k', 'Late')";

    private Party owner;

    @BeforeEach
    void join() {
        database.clear();
        owner = Party.owning(database, "owner");
        owner.lookAtAll();
    }

    @AfterEach
    void close() {
        owner.close();
    }

    @Test
    void nothingIsLookedForBelowIt() {
        long last = deliverSome();
        assertThat(front()).isEqualTo(last + 1);
        // Nobody may do this; it shows that the look began behind it, and that it is found all the same in the end.
        long byHand = last - 1;
        database.execute("INSERT INTO outbox_event (id, stream, event_key, event_type) OVERRIDING SYSTEM VALUE"
                + " VALUES (" + byHand + ", 's', 'k', 'T')");
        assertThat(owner.readIds()).isEmpty();
        owner.elapse(Duration.ofSeconds(30));
        assertThat(owner.readIds()).containsExactly(byHand);
    }

    @Test
    void whatIsThereIsNeverBelowIt() {
        long dead = database.event("s", "d", "status = 'DEAD', holds = true");
        long later = database.event("s", "l", "status = 'WAITING', due_at = clock_timestamp() + interval '1 hour'");
        deliverSome();
        assertThat(front()).isEqualTo(dead);
        database.execute("DELETE FROM outbox_event WHERE id = " + dead);
        deliverSome();
        assertThat(front()).isEqualTo(later);
        database.execute("UPDATE outbox_event SET due_at = clock_timestamp() WHERE id = " + later);
        assertThat(owner.readIds()).containsExactly(later);
    }

    @Test
    void whatHasNotBeenCommittedYetIsNeverBelowIt() throws Exception {
        try (OpenTransaction late = database.begin()) {
            late.execute(LATE);
            deliverSome();
            deliverSome();
            assertThat(front()).isZero();
            late.commit();
            long younger = database.event("s", "k");
            List<Long> found = owner.readIds();
            assertThat(found).hasSize(2).last().isEqualTo(younger);
            assertThat(database.row(found.get(0), "event_type")).isEqualTo("Late");
        }
    }

    @Test
    void whatASavepointWroteIsNeverBelowIt() throws Exception {
        try (OpenTransaction late = database.begin()) {
            late.execute("SAVEPOINT before");
            late.execute(LATE);
            late.execute("RELEASE SAVEPOINT before");
            deliverSome();
            deliverSome();
            late.commit();
        }
        assertThat(owner.readIds()).hasSize(1);
    }

    @Test
    void anIdThatWasDrawnAndNotYetWrittenIsNeverBelowIt() throws Exception {
        // In this moment the transaction of the writer has no number, unless its id is one of those that are logged, so
        // that
        // no snapshot knows of it.
        database.execute("CREATE OR REPLACE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NEW; END $$;"
                + " CREATE TRIGGER slow BEFORE INSERT ON outbox_event FOR EACH ROW WHEN (NEW.event_type = 'Late')"
                + " EXECUTE FUNCTION slow()");
        try (OpenTransaction brake = database.begin();
                OpenTransaction late = database.begin()) {
            while (database.number("SELECT log_cnt FROM outbox_event_id_seq") < 2) {
                database.number("SELECT nextval('outbox_event_id_seq')");
            }
            brake.execute("DO $$ BEGIN PERFORM pg_advisory_xact_lock(1); END $$");
            CompletableFuture<Integer> writing = CompletableFuture.supplyAsync(() -> late.execute(LATE));
            brake.awaitSomebodyBlocked();
            deliverSome();
            deliverSome();
            brake.commit();
            writing.join();
            late.commit();
            assertThat(owner.readIds()).hasSize(1);
        } finally {
            database.execute("DROP TRIGGER slow ON outbox_event; DROP FUNCTION slow()");
        }
    }

    @Test
    void ofAnotherServerItDoesNotCount() {
        long last = deliverSome();
        assertThat(front()).isEqualTo(last + 1);
        database.execute("INSERT INTO outbox_event (id, stream, event_key, event_type) OVERRIDING SYSTEM VALUE"
                + " VALUES (" + (last - 1) + ", 's', 'k', 'T')");
        // As if all of it had been found on a server that was there before this one, and nobody had been asked since.
        Front front = owner.front();
        long later = System.nanoTime() + Duration.ofHours(1).toNanos();
        Front.Writing before = new Front.Writing(front.server() - 1, Set.of(), 0);
        front.hear(before, later);
        front.looked(last, last, later);
        front.hear(before, later);
        front.hear(before, later);
        front.looked(Long.MAX_VALUE, 0, later);
        assertThat(front.id(later)).isEqualTo(last + 1);
        assertThat(owner.readIds()).containsExactly(last - 1);
    }

    @Test
    void aServerThatRecoversFromTheCrashOfASessionIsAnotherOne() {
        try (PostgresServer server = PostgresServer.builder().start()) {
            DataSource tables = server.createDatabase().dataSource();
            Schema.of(tables).apply(SchemaMode.MIGRATE);
            long before = run(tables);
            assertThat(run(tables)).isEqualTo(before);
            long session = number(tables, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
            ProcessHandle.of(session).orElseThrow().destroyForcibly();
            await().ignoreExceptions().until(() -> run(tables) != before);
            assertThat(number(tables, "SELECT count(*) FROM outbox_event")).isZero();
        }
    }

    /** Of the server, as those who write are asked for. */
    private static long run(DataSource tables) {
        return number(tables, Party.SQL.writing);
    }

    private static long number(DataSource tables, String sql) {
        try (var connection = tables.getConnection();
                var statement = connection.createStatement();
                var row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Enough of it for the front to move as far as it may. Returns the id of the last one. */
    private long deliverSome() {
        long last = 0;
        for (int i = 0; i < 4; i++) {
            last = database.event("s", "k" + i);
            owner.events.settle(owner.read());
            owner.elapse(Duration.ofSeconds(1));
        }
        for (int i = 0; i < 3; i++) {
            assertThat(owner.read()).isEmpty();
            owner.elapse(Duration.ofSeconds(1));
        }
        return last;
    }

    private long front() {
        return owner.front().id(System.nanoTime());
    }
}
