// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.awaitility.Awaitility.await;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import javax.sql.DataSource;
import org.postgresql.PGConnection;

/** A second session in the middle of a transaction: keeps its locks until it is told to commit or to roll back. */
final class OpenTransaction implements AutoCloseable {
    /** What Postrider's sessions do to make every statement a transaction of its own: here it has no effect. */
    private static final Set<String> IGNORED = Set.of("setAutoCommit", "setNetworkTimeout", "close");

    private final TestDatabase database;
    private final Connection connection;

    OpenTransaction(TestDatabase database) throws SQLException {
        this.database = database;
        connection = database.connect();
        connection.setAutoCommit(false);
    }

    /** Has the statements of whoever uses it run in this transaction. */
    DataSource dataSource() {
        Connection kept = (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                    try {
                        return IGNORED.contains(method.getName()) ? null : method.invoke(connection, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        return (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, args) -> kept);
    }

    Connection connection() {
        return connection;
    }

    int execute(String sql) {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    long number(String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Returns once a session stands still because of a lock that this one holds. */
    void awaitSomebodyBlocked() {
        awaitBlocked(1);
    }

    void awaitBlocked(int sessions) {
        await().atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> blocked() >= sessions);
    }

    private long blocked() throws SQLException {
        return database.number("SELECT count(*) FROM pg_stat_activity WHERE "
                + connection.unwrap(PGConnection.class).getBackendPID() + " = ANY (pg_blocking_pids(pid))");
    }

    void commit() throws SQLException {
        connection.commit();
    }

    void rollback() throws SQLException {
        connection.rollback();
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
