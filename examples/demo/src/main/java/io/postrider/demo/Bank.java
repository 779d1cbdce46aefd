// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** The demo's tables, and the money in them at the start. */
final class Bank {
    static final int ACCOUNTS = 200;
    static final long CENTS_EACH = 1_000_00;
    static final long ALL_CENTS = ACCOUNTS * CENTS_EACH;

    private Bank() {}

    static void open(DataSource dataSource) throws SQLException {
        Schema.of(dataSource).apply(SchemaMode.MIGRATE);
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(resource("bank.sql"));
            statement.execute("INSERT INTO account (id, balance) SELECT id, " + CENTS_EACH + " FROM generate_series(0, "
                    + (ACCOUNTS - 1) + ") AS id");
        }
    }

    static String resource(String name) {
        try (InputStream in = Bank.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("Resource " + name + " is missing from the demo");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("Resource " + name + " cannot be read", e);
        }
    }
}
