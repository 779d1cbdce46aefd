// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.table.TableNames;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class JdbcInboxTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private final JdbcInbox inbox = JdbcInbox.of(database.dataSource());
    private final UUID event = UUID.randomUUID();

    @BeforeEach
    void clear() {
        database.clear();
        database.execute("DROP TABLE IF EXISTS invoice; CREATE TABLE invoice (event_id uuid)");
    }

    @Test
    void theWorkOfAnEventIsRunOnceForEachConsumer() {
        assertThat(inbox.transact("billing", event, this::bill)).isTrue();
        assertThat(inbox.transact("billing", event, this::bill)).isFalse();
        assertThat(inbox.transact("shipping", event, this::bill)).isTrue();
        assertThat(invoices()).isEqualTo(2);
        assertThat(database.column("SELECT consumer FROM inbox_message ORDER BY 1"))
                .containsExactly("billing", "shipping");
        assertThat(inbox.duplicateCount()).isEqualTo(1);
    }

    @Test
    void inTheCallersTransactionItSharesItsFate() throws SQLException {
        try (Connection connection = transaction()) {
            assertThat(inbox.on(connection).once("billing", event, () -> bill(connection)))
                    .isTrue();
            assertThat(inbox.on(connection).once("billing", event, () -> bill(connection)))
                    .as("again in the same transaction")
                    .isFalse();
            connection.rollback();
            assertThat(inbox.on(connection).once("billing", event, () -> bill(connection)))
                    .isTrue();
            assertThat(invoices()).as("not committed").isZero();
            connection.commit();
        }
        assertThat(invoices()).isEqualTo(1);
        assertThat(noted()).isEqualTo(1);
    }

    @Test
    void aRollbackToASavepointForgetsTheEventAndItsEffects() throws SQLException {
        try (Connection connection = transaction()) {
            Savepoint savepoint = connection.setSavepoint();
            assertThatThrownBy(() -> inbox.on(connection).once("billing", event, () -> {
                        bill(connection);
                        throw new IllegalStateException("no such customer");
                    }))
                    .hasMessage("no such customer");
            connection.rollback(savepoint);
            assertThat(inbox.on(connection).once("billing", event, () -> bill(connection)))
                    .isTrue();
            connection.commit();
        }
        assertThat(invoices()).isEqualTo(1);
    }

    @Test
    void whatTheWorkThrowsRollsBackAndIsPassedOnAsItIs() {
        IOException checked = new IOException("mine");
        assertThatThrownBy(() -> inbox.transact("billing", event, tx -> {
                    bill(tx);
                    throw checked;
                }))
                .isSameAs(checked);
        AssertionError error = new AssertionError("mine too");
        assertThatThrownBy(() -> inbox.transact("billing", event, tx -> {
                    bill(tx);
                    throw error;
                }))
                .isSameAs(error);
        assertThat(invoices()).isZero();
        assertThat(noted()).isZero();
        assertThat(inbox.transact("billing", event, this::bill)).isTrue();
    }

    @Test
    void aCommitThatFailsLeavesTheEventToBeProcessedAgain() {
        database.execute("CREATE TABLE IF NOT EXISTS deferred_check (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
        assertThatThrownBy(() -> inbox.transact("billing", event, tx -> {
                    bill(tx);
                    execute(tx.connection(), "INSERT INTO deferred_check VALUES (1), (1)");
                }))
                .isInstanceOf(OutboxException.class)
                .hasMessageStartingWith("The transaction was not committed, or its outcome is unknown: ERROR: duplicate"
                        + " key value violates unique constraint \"deferred_check_id_key\"")
                .hasMessageEndingWith(". Process the event again: if it was committed, it is seen before then.");
        assertThat(inbox.transact("billing", event, this::bill)).isTrue();
        assertThat(invoices()).isEqualTo(1);
    }

    @Test
    void effectsAndNewEventsGoTogether() {
        JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());
        for (int delivery = 0; delivery < 2; delivery++) {
            outbox.transact(tx -> inbox.on(tx.connection()).once("billing", event, () -> {
                bill(tx.connection());
                tx.append(OutboxEvent.of("invoices", "InvoiceSent").build());
            }));
        }
        assertThat(invoices()).isEqualTo(1);
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isEqualTo(1);
    }

    @Test
    void ofManyAtOnceThoseAreReturnedThatAreNew() throws SQLException {
        List<UUID> ids =
                new ArrayList<>(Stream.generate(UUID::randomUUID).limit(500).toList());
        List<UUID> seen = List.copyOf(ids.subList(100, 300));
        try (Connection connection = transaction()) {
            assertThat(inbox.on(connection).claim("billing", seen)).containsExactlyElementsOf(seen);
            connection.commit();
            Collections.shuffle(ids);
            Set<UUID> fresh = inbox.on(connection).claim("billing", ids);
            assertThat(fresh)
                    .as("in the order given")
                    .containsExactlyElementsOf(
                            ids.stream().filter(id -> !seen.contains(id)).toList());
            assertThat(inbox.on(connection).claim("shipping", ids)).hasSize(500);
            connection.commit();
            assertThat(inbox.on(connection).claim("billing", ids)).isEmpty();
        }
        assertThat(noted()).isEqualTo(1000);
        assertThat(inbox.duplicateCount()).isEqualTo(200 + 500);
    }

    @Test
    void anIdThatIsGivenTwiceIsReturnedOnceAndIsNoDuplicate() throws SQLException {
        try (Connection connection = transaction()) {
            assertThat(inbox.on(connection).claim("billing", List.of(event, event)))
                    .containsExactly(event);
            assertThat(inbox.on(connection).claim("billing", List.of())).isEmpty();
            connection.commit();
        }
        assertThat(inbox.duplicateCount()).isZero();
    }

    @Test
    void withoutATransactionItIsRefusedAndTheWorkNotRun() throws SQLException {
        String message =
                "No transaction is open, so event " + event + " would count as processed by billing even if its"
                        + " work fails. Call setAutoCommit(false) before your first statement, or use JdbcInbox.transact(..).";
        try (Connection connection = database.connect()) {
            assertThatThrownBy(() -> inbox.on(connection).once("billing", event, () -> bill(connection)))
                    .isInstanceOf(OutboxException.class)
                    .hasMessage(message);
            assertThatThrownBy(() -> inbox.on(connection).claim("billing", List.of(event)))
                    .isInstanceOf(OutboxException.class)
                    .hasMessage(message);
        }
        assertThat(noted()).isZero();
        assertThat(invoices()).isZero();
    }

    @Test
    void aNameThatBreaksARuleIsRefusedBeforeAnythingIsWritten() throws SQLException {
        String message =
                "Consumer 'a?b' was refused: its name has a control character (U+000A) at position 1. Remove it.";
        assertThatThrownBy(() -> inbox.transact("a\nb", event, this::bill))
                .isInstanceOf(OutboxException.class)
                .hasMessage(message);
        try (Connection connection = transaction()) {
            assertThatThrownBy(() -> inbox.on(connection).claim("a\nb", List.of(event)))
                    .hasMessage(message);
        }
        assertThat(noted()).isZero();
    }

    @Test
    void theTableRefusesNamesOfTheWrongLengthFromAnyLanguage() {
        for (String name : List.of("", "x".repeat(129))) {
            assertThatThrownBy(() -> database.execute("INSERT INTO inbox_message (consumer, event_id) VALUES ('" + name
                            + "', gen_random_uuid())"))
                    .hasStackTraceContaining("inbox_message_consumer_check");
        }
    }

    @Test
    void whatTheDatabaseRefusesIsNamedWithWhatToDo() throws SQLException {
        try (Connection connection = transaction()) {
            assertThatThrownBy(() -> execute(connection, "SELECT 1 / 0")).isNotNull();
            assertThatThrownBy(() -> inbox.on(connection).once("billing", event, () -> bill(connection)))
                    .isInstanceOf(OutboxException.class)
                    .hasMessage("The database did not note event " + event + " as processed by billing: ERROR: current"
                            + " transaction is aborted, commands ignored until end of transaction block. Roll your"
                            + " transaction back, then process it again.");
            assertThatThrownBy(() -> inbox.on(connection).claim("billing", List.of(event, UUID.randomUUID())))
                    .hasMessageStartingWith("The database did not note event " + event
                            + " or one of the 1 after it as processed by billing: ERROR");
        }
    }

    @Test
    void theTableMayBeInANamedSchema() {
        TestDatabase other = TestDatabase.empty();
        TableNames shop = new TableNames("shop");
        Schema.of(other.dataSource(), shop).apply(SchemaMode.MIGRATE);
        JdbcInbox named = JdbcInbox.of(other.dataSource()).withTables(shop);
        assertThat(named.transact("billing", event, tx -> {})).isTrue();
        assertThat(named.transact("billing", event, tx -> {})).isFalse();
        assertThat(other.number("SELECT count(*) FROM shop.inbox_message")).isEqualTo(1);
        assertThat(named.prune()).isZero();
    }

    private void bill(JdbcInbox.Tx tx) {
        bill(tx.connection());
    }

    private void bill(Connection connection) {
        execute(connection, "INSERT INTO invoice VALUES ('" + event + "')");
    }

    private static void execute(Connection connection, String sql) {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    private static long invoices() {
        return database.number("SELECT count(*) FROM invoice");
    }

    private static long noted() {
        return database.number("SELECT count(*) FROM inbox_message");
    }

    private static Connection transaction() throws SQLException {
        Connection connection = database.connect();
        connection.setAutoCommit(false);
        return connection;
    }
}
