// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

class JdbcOutboxTransactionTest extends OutboxRig {
    @Test
    void aRolledBackEventNeverExisted() throws SQLException {
        try (Connection connection = transaction()) {
            outbox.on(connection).append(event("gone"));
            connection.rollback();
        }
        assertThat(keys()).isEmpty();
    }

    @Test
    void aRollbackToASavepointDropsOnlyWhatWasAppendedSince() throws SQLException {
        try (Connection connection = transaction()) {
            outbox.on(connection).append(event("before"));
            Savepoint savepoint = connection.setSavepoint();
            outbox.on(connection).append(List.of(event("inside 1"), event("inside 2")));
            connection.rollback(savepoint);
            outbox.on(connection).append(event("after"));
            connection.commit();
        }
        assertThat(keys()).containsExactly("before", "after");
    }

    @Test
    void twoTransactionsHaveTheirOwnFate() throws SQLException {
        try (Connection outer = transaction();
                Connection inner = transaction()) {
            outbox.on(outer).append(event("outer"));
            outbox.on(inner).append(event("inner"));
            inner.commit();
            assertThat(keys()).containsExactly("inner");
            outer.rollback();
        }
        assertThat(keys()).containsExactly("inner");
    }

    @Test
    void withoutATransactionTheAppendIsRefused() throws SQLException {
        try (Connection connection = DATABASE.connect()) {
            assertThatThrownBy(() -> outbox.on(connection).append(event("k")))
                    .isInstanceOf(OutboxException.class)
                    .hasMessage("No transaction is open, so event T (stream s) would not be atomic with your data. Call"
                            + " setAutoCommit(false) before your first statement, or use JdbcOutbox.transact(..).");
            assertThatCode(() -> outbox.on(connection).append(List.of())).doesNotThrowAnyException();
        }
        assertThat(keys()).isEmpty();
    }

    @Test
    void transactCommitsAndRingsAfterwards() {
        List<Long> seenByTheHearer = new ArrayList<>();
        outbox.bell().onRing(() -> seenByTheHearer.add(DATABASE.number("SELECT count(*) FROM outbox_event")));
        outbox.transact(tx -> {
            tx.append(event("a"));
            tx.append(event("b"));
            assertThat(rings).hasValue(0);
        });
        assertThat(rings).as("once per commit").hasValue(1);
        assertThat(seenByTheHearer).as("others see the rows when it rings").containsExactly(2L);
    }

    @Test
    void dataAndEventsOfATransactionGoTogether() {
        DATABASE.execute("CREATE TABLE IF NOT EXISTS customer_order (id int)");
        assertThatThrownBy(() -> outbox.transact(tx -> {
                    insertOrder(tx.connection());
                    tx.append(event("k"));
                    throw new IllegalStateException("changed my mind");
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("changed my mind");
        assertThat(DATABASE.number("SELECT count(*) FROM customer_order")).isZero();
        assertThat(keys()).isEmpty();
        assertThat(rings).hasValue(0);
    }

    @Test
    void whatTheWorkThrowsIsPassedOnAsItIs() {
        SQLException checked = new SQLException("mine");
        assertThatThrownBy(() -> outbox.transact(tx -> {
                    tx.append(event("k"));
                    throw checked;
                }))
                .isSameAs(checked);
        AssertionError error = new AssertionError("mine too");
        assertThatThrownBy(() -> outbox.transact(tx -> {
                    tx.append(event("k"));
                    throw error;
                }))
                .isSameAs(error);
        assertThat(keys()).isEmpty();
        assertThat(rings).hasValue(0);
    }

    @Test
    void aCommitThatFailsThrowsAndDoesNotRing() {
        DATABASE.execute("CREATE TABLE IF NOT EXISTS deferred_check (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
        assertThatThrownBy(() -> outbox.transact(tx -> {
                    tx.append(event("k"));
                    try (Statement statement = tx.connection().createStatement()) {
                        statement.execute("INSERT INTO deferred_check VALUES (1), (1)");
                    }
                }))
                .isInstanceOf(OutboxException.class)
                .hasMessageStartingWith("The transaction was not committed, or its outcome is unknown: ERROR: duplicate"
                        + " key value violates unique constraint \"deferred_check_id_key\"")
                .hasMessageEndingWith(". Look at your data before you repeat it.")
                .hasCauseInstanceOf(SQLException.class);
        assertThat(keys()).isEmpty();
        assertThat(rings).hasValue(0);
    }

    @Test
    void aTransactionThatCannotBeBegunIsNamed() {
        JdbcOutbox nowhere = JdbcOutbox.of((DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    throw new SQLException("no connection left");
                }));
        assertThatThrownBy(() -> nowhere.transact(tx -> tx.append(event("k"))))
                .isInstanceOf(OutboxException.class)
                .hasMessage("No transaction could be begun, so nothing was done: no connection left");
    }

    @Test
    void whoCommitsHimselfRingsHimself() throws SQLException {
        try (Connection connection = transaction()) {
            outbox.on(connection).append(event("k"));
            connection.commit();
        }
        assertThat(rings).hasValue(0);
        outbox.committed();
        assertThat(rings).hasValue(1);
    }

    private static void insertOrder(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO customer_order VALUES (1)");
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }
}
