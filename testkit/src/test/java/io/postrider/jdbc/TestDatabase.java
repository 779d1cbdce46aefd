// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.testkit.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** A fresh database with Postrider's tables, on a server that all tests of this JVM share. */
final class TestDatabase {
    private static final PostgresServer SERVER =
            PostgresServer.builder().fsync(false).start();

    private final DataSource dataSource;

    private TestDatabase(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    static TestDatabase migrated() {
        TestDatabase database = empty();
        Schema.of(database.dataSource).apply(SchemaMode.MIGRATE);
        return database;
    }

    static TestDatabase empty() {
        return new TestDatabase(SERVER.createDatabase().dataSource());
    }

    DataSource dataSource() {
        return dataSource;
    }

    Connection connect() throws SQLException {
        return dataSource.getConnection();
    }

    void execute(String sql) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    long number(String sql) {
        return Long.parseLong(column(sql).get(0));
    }

    /** The first column of a query's result, as text. */
    List<String> column(String sql) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(String.valueOf(rows.getString(1)));
            }
            return values;
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }
}
