// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

class PgBouncerTest {
    @Test
    void clientsShareSessionsAndFindThePoolerAgainAfterARestart() throws SQLException {
        assumeTrue(PgBouncer.isInstalled(), "needs PgBouncer, such as by: apt-get install pgbouncer");
        try (PostgresServer postgres = PostgresServer.builder().fsync(false).start();
                PgBouncer pooler =
                        PgBouncer.to(postgres).users("postgres").poolSize(1).start()) {
            PostgresServer.Database database = pooler.through(postgres.createDatabase());
            try (Connection one = database.dataSource().getConnection();
                    Connection two = database.dataSource().getConnection()) {
                assertThat(session(one)).isEqualTo(session(two));

                pooler.restart();

                assertThatThrownBy(() -> session(one)).isInstanceOf(SQLException.class);
            }
            try (Connection again = database.dataSource().getConnection()) {
                assertThat(session(again)).isNotEmpty();
            }
        }
    }

    private static String session(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT pg_backend_pid()")) {
            rows.next();
            return rows.getString(1);
        }
    }
}
