// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.testkit.PostgresServer;
import io.postrider.testkit.TcpProxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A primary, a standby that has everything before a commit is answered, and an address that leads to one of them. So
 * nothing that was committed is lost when the standby takes over.
 */
final class PrimaryAndStandby implements AutoCloseable {
    private final PostgresServer primary = SharedServers.postgres();
    private final TcpProxy address = TcpProxy.to("127.0.0.1", primary.port());
    private final PostgresServer standby;

    PrimaryAndStandby() {
        standby = PostgresServer.builder()
                .fsync(false)
                .setting("synchronous_commit", "on")
                .standbyOf(primary)
                .start();
        execute("ALTER SYSTEM SET synchronous_standby_names = '*'");
        execute("SELECT pg_reload_conf()");
        Rig.await(
                "the standby has everything before a commit is answered",
                () -> text(primary, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
                        .equals("1"));
    }

    PostgresServer primary() {
        return primary;
    }

    PostgresServer standby() {
        return standby;
    }

    int port() {
        return address.port();
    }

    /** A new database, reached by the address. */
    PostgresServer.Database createDatabase() {
        PostgresServer.Database direct = primary.createDatabase();
        String url = direct.url().replaceFirst(":[0-9]+/", ":" + port() + "/");
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url);
        return new PostgresServer.Database(direct.name(), url, source);
    }

    /** New connections lead to this one; open ones stay where they are. */
    void leadTo(PostgresServer server) {
        address.forwardTo("127.0.0.1", server.port());
    }

    /** Ends all connections by the address. */
    void endConnections() {
        address.reset();
    }

    /** As those do who take a primary out of service: it takes no more writes, and open sessions stay. */
    void demote() {
        execute("ALTER SYSTEM SET default_transaction_read_only = on");
        execute("SELECT pg_reload_conf()");
    }

    long pendingOnStandby(String database) {
        return Long.parseLong(text(standby, database, "SELECT count(*) FROM outbox_event"));
    }

    private void execute(String sql) {
        try (Connection connection = primary.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    private static String text(PostgresServer server, String sql) {
        return text(server, "postgres", sql);
    }

    private static String text(PostgresServer server, String database, String sql) {
        try (Connection connection = server.dataSource(database).getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    @Override
    public void close() {
        address.close();
        // First, since a primary that is stopped waits until its standby has everything.
        standby.close();
        primary.close();
    }
}
