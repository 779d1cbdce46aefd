// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class PostgresServerTest {
    private static PostgresServer server;

    @BeforeAll
    static void start() {
        server = PostgresServer.start();
    }

    @AfterAll
    static void close() {
        server.close();
    }

    @Test
    void itKeepsCommittedDataWhenItIsKilled() throws SQLException {
        DataSource source = tableWithOneRow();
        int port = server.port();
        long pid = server.pid();

        server.kill();

        assertThatThrownBy(source::getConnection).isInstanceOf(SQLException.class);
        server.startAgain();
        assertThat(server.port()).isEqualTo(port);
        assertThat(server.pid()).isNotEqualTo(pid);
        assertThat(query(source, "SELECT count(*) FROM t")).isEqualTo("1");
    }

    @Test
    void itKeepsDataWhenItIsStoppedAndWhenItIsRestartedWithoutACheckpoint() throws SQLException {
        DataSource source = tableWithOneRow();

        server.stop();
        server.stop();
        assertThatThrownBy(server::pid).hasMessageContaining("is down. Call startAgain()");
        server.startAgain();
        assertThatThrownBy(server::startAgain).hasMessageContaining("is running already");
        server.restartImmediate();

        assertThat(query(source, "SELECT count(*) FROM t")).isEqualTo("1");
    }

    @Test
    void anImmediateRestartEndsOpenSessions() throws SQLException {
        try (Connection open = server.createDatabase().dataSource().getConnection()) {
            server.restartImmediate();

            assertThatThrownBy(() -> open.createStatement().execute("SELECT 1")).isInstanceOf(SQLException.class);
        }
    }

    @Test
    void databasesOfOneServerDoNotSeeEachOther() throws SQLException {
        tableWithOneRow();
        DataSource second = server.createDatabase().dataSource();

        assertThat(query(second, "SELECT to_regclass('t') IS NULL")).isEqualTo("t");
    }

    @Test
    void twoServersRunAtOnceAndNothingOfAClosedOneIsLeft() throws SQLException {
        PostgresServer other =
                PostgresServer.builder().fsync(false).setting("work_mem", "5MB").start();
        Path data = Path.of(query(other.dataSource(), "SHOW data_directory"));
        OsProcess process = new OsProcess(other.pid());
        assertThat(other.port()).isNotEqualTo(server.port());
        assertThat(query(other.dataSource(), "SHOW work_mem")).isEqualTo("5MB");
        assertThat(query(other.dataSource(), "SHOW fsync")).isEqualTo("off");
        assertThat(query(server.dataSource(), "SHOW fsync")).isEqualTo("on");
        assertThat(Files.exists(data)).isTrue();

        other.close();
        other.close();

        assertThat(Files.exists(data.getParent())).isFalse();
        assertThat(process.isGone()).isTrue();
    }

    @Test
    void aStandbyFollowsItsPrimaryUntilItIsPromoted() throws SQLException {
        PostgresServer.Database database = server.createDatabase();
        try (PostgresServer standby =
                PostgresServer.builder().fsync(false).standbyOf(server).start()) {
            DataSource copy = standby.dataSource(database.name());
            execute(database.dataSource(), "CREATE TABLE later (id int)");
            await().until(() ->
                    query(copy, "SELECT to_regclass('later') IS NOT NULL").equals("t"));
            assertThatThrownBy(() -> execute(copy, "INSERT INTO later VALUES (1)"))
                    .hasMessageContaining("read-only");

            standby.promote();

            execute(copy, "INSERT INTO later VALUES (1)");
            assertThat(query(copy, "SELECT count(*) FROM later")).isEqualTo("1");
            assertThat(query(database.dataSource(), "SELECT count(*) FROM later"))
                    .isEqualTo("0");
        }
    }

    @Test
    void aSettingThatItRefusesIsNamedInTheFailure() {
        assertThatThrownBy(() -> PostgresServer.builder()
                        .setting("wal_level", "nonsense")
                        .start())
                .hasMessageContaining("PostgreSQL ended while it started")
                .hasMessageContaining("wal_level");
    }

    @Test
    void aVersionThatIsNotOnTheClasspathIsRefusedWithThoseThatAre() {
        assertThatThrownBy(() -> PostgresServer.builder().version("9").start())
                .hasMessageContaining("No PostgreSQL 9 on the classpath")
                .hasMessageContaining("found [");
    }

    @Test
    void aDirectoryWithoutPostgresIsRefused() {
        assertThatThrownBy(() ->
                        PostgresServer.builder().binaries(Path.of("/nowhere")).start())
                .hasMessageContaining("No PostgreSQL in /nowhere");
    }

    @Test
    void itRunsTheProgramsOfAnInstalledPostgres() throws SQLException {
        Path installed = Path.of("/usr/lib/postgresql/15/bin");
        assumeTrue(Files.isDirectory(installed), "needs Debian's postgresql-15");
        try (PostgresServer old = PostgresServer.builder().binaries(installed).start()) {
            assertThat(query(old.dataSource(), "SHOW server_version")).startsWith("15.");
        }
    }

    @Test
    void asRootItAlsoRunsWithoutSetpriv() throws SQLException {
        assumeTrue(ServerAccount.current().uid() == 0, "needs root");
        try (PostgresServer withSu =
                PostgresServer.builder().account(new ServerAccount(0, false)).start()) {
            assertThat(query(withSu.dataSource(), "SELECT 1")).isEqualTo("1");
            withSu.kill();
            withSu.startAgain();
            assertThat(query(withSu.dataSource(), "SELECT 1")).isEqualTo("1");
        }
    }

    private static DataSource tableWithOneRow() throws SQLException {
        DataSource source = server.createDatabase().dataSource();
        execute(source, "CREATE TABLE t (id int)");
        execute(source, "INSERT INTO t VALUES (1)");
        return source;
    }

    private static void execute(DataSource source, String sql) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String query(DataSource source, String sql) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            result.next();
            return result.getString(1);
        }
    }
}
