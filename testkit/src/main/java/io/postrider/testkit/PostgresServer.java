// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A real PostgreSQL on a loopback port, without a container and without an installation.
 *
 * <pre>{@code
 * try (PostgresServer postgres = PostgresServer.start()) {
 *     PostgresServer.Database database = postgres.createDatabase();
 *     try (Connection connection = database.dataSource().getConnection()) { ... }
 * }
 * }</pre>
 *
 * <p>One server per test class and one {@link #createDatabase database} per test keeps tests apart and fast. The port and
 * the data are kept while it is {@link #stop stopped}, {@link #kill killed} or restarted. On {@link #close}, and when
 * this JVM ends in whatever way, the server ends and its data is removed. The only user is {@code postgres}, without a
 * password. Thread-safe.
 */
public final class PostgresServer implements AutoCloseable {
    static final String USER = "postgres";
    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);
    private static final int CONNECT_SECONDS = 10;
    private static final int SOCKET_SECONDS = 60;

    private final PostgresBinaries binaries;
    private final ServerAccount account;
    private final Map<String, String> settings;
    private final @Nullable PostgresServer primary;
    private final LoopbackPort port = LoopbackPort.reserve();
    private final ScratchDirectory scratch = ScratchDirectory.create("postgres");
    private final Watchdog watchdog = Watchdog.start();
    private final AtomicInteger databases = new AtomicInteger();
    private final Thread hook = new Thread(this::endWithJvm, "postrider-postgres-close");
    private @Nullable OsProcess postmaster;

    private PostgresServer(PostgresBinaries binaries, Builder builder) {
        this.binaries = binaries;
        this.account = builder.account;
        this.settings = Map.copyOf(builder.settings);
        this.primary = builder.primary;
    }

    /** Starts a server with the default settings. */
    public static PostgresServer start() {
        return builder().start();
    }

    /** Starts the description of a server. */
    public static Builder builder() {
        return new Builder();
    }

    /** The port, which stays the same over restarts. */
    public int port() {
        return port.number();
    }

    /** The JDBC URL of the database {@code postgres}, with the user and with timeouts. */
    public String url() {
        return url(USER);
    }

    /** The JDBC URL of this database, with the user and with timeouts. */
    public String url(String database) {
        return "jdbc:postgresql://127.0.0.1:" + port() + "/" + database + "?user=" + USER + "&connectTimeout="
                + CONNECT_SECONDS + "&socketTimeout=" + SOCKET_SECONDS + "&tcpKeepAlive=true";
    }

    /** Connections to the database {@code postgres}; not pooled. */
    public PGSimpleDataSource dataSource() {
        return dataSource(USER);
    }

    /** Connections to this database; not pooled. */
    public PGSimpleDataSource dataSource(String database) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url(database));
        return source;
    }

    /** Creates an empty database with a name of its own. */
    public Database createDatabase() {
        String name = "test_" + databases.incrementAndGet();
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + name);
        } catch (SQLException e) {
            throw new IllegalStateException("Database " + name + " could not be created on port " + port(), e);
        }
        return new Database(name, url(name), dataSource(name));
    }

    /** The process id of the postmaster, whose children are the sessions. */
    public synchronized long pid() {
        return running().pid();
    }

    /** What the server has written to its log. */
    public String log() {
        try {
            return Files.exists(logFile()) ? Files.readString(logFile()) : "";
        } catch (IOException e) {
            throw new UncheckedIOException("The log of PostgreSQL could not be read", e);
        }
    }

    /** Shuts it down in order, ending open sessions, and keeps the data. Does nothing if it is down. */
    public synchronized void stop() {
        end("INT");
    }

    /** Starts it after {@link #stop} or {@link #kill}, on the same port with the same data. */
    public synchronized void startAgain() {
        if (postmaster != null) {
            throw new IllegalStateException("PostgreSQL on port " + port() + " is running already");
        }
        launch();
    }

    /** Makes it end at once without a checkpoint, as after a crash of its own, and starts it again. */
    public synchronized void restartImmediate() {
        end("QUIT");
        launch();
    }

    /**
     * Kills the postmaster and all its children with SIGKILL, as when its machine fails, and keeps the data. Does nothing if it
     * is down.
     */
    public synchronized void kill() {
        OsProcess parent = postmaster;
        if (parent == null) {
            return;
        }
        Optional<OsProcess> su = parent.parent()
                .filter(process -> process.pid() != ProcessHandle.current().pid());
        // Stopped first, so that no child is born while they are counted.
        parent.stop();
        List<OsProcess> children = parent.children();
        // Last: a session that sees it die waits for its standby no longer, and others still see what it has committed.
        children.forEach(child -> child.signal("KILL"));
        parent.signal("KILL");
        // It stops itself when its child is stopped.
        su.ifPresent(process -> process.signal("CONT"));
        parent.awaitGone(STOP_LIMIT);
        children.forEach(child -> child.awaitGone(STOP_LIMIT));
        down();
        try {
            // The next postmaster would refuse to start if its id had meanwhile been given to another process.
            Files.deleteIfExists(pidFile());
        } catch (IOException e) {
            throw new UncheckedIOException("The stale " + pidFile() + " could not be removed", e);
        }
    }

    /** Makes a standby a primary, and returns when it takes writes; open sessions stay. */
    public void promote() {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_promote(true, " + START_LIMIT.toSeconds() + ")");
        } catch (SQLException e) {
            throw new IllegalStateException("PostgreSQL on port " + port() + " could not be promoted", e);
        }
    }

    /** Ends the server and removes its data; does nothing the second time. */
    @Override
    public synchronized void close() {
        if (!Files.exists(scratch.path())) {
            return;
        }
        end("INT");
        scratch.close();
        watchdog.close();
        port.close();
        ShutdownHook.remove(hook);
    }

    /** The data is left to the watchdog: a JVM that ends should not have to wait until thousands of files are removed. */
    private synchronized void endWithJvm() {
        end("QUIT");
        port.close();
    }

    private synchronized void create() {
        ShutdownHook.add(hook);
        watchdog.remove(scratch.path());
        try {
            if (primary == null) {
                binaries.initialise(data(), account);
            } else {
                new BaseBackup(primary.dataSource(), primary.data(), account).into(data(), slot(port()));
            }
            launch();
        } catch (IOException e) {
            close();
            throw new UncheckedIOException("The data directory of PostgreSQL could not be made", e);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private void launch() {
        PostmasterLaunch launch = new PostmasterLaunch(binaries, account, data(), logFile());
        Map<String, String> all = new LinkedHashMap<>(settings);
        if (primary != null) {
            all.put("primary_conninfo", "host=127.0.0.1 port=" + primary.port() + " user=" + USER);
            all.put("primary_slot_name", slot(port()));
        }
        OsProcess started = launch.run(port(), all, process -> watchdog.guard(process.pid(), "QUIT"));
        postmaster = started;
        launch.awaitReady(started, dataSource(), START_LIMIT);
    }

    private void end(String signal) {
        OsProcess process = postmaster;
        if (process == null) {
            return;
        }
        process.signal(signal);
        if (!process.awaitGone(STOP_LIMIT)) {
            kill();
        }
        down();
    }

    private void down() {
        postmaster = null;
        watchdog.forget();
    }

    private OsProcess running() {
        if (postmaster == null) {
            throw new IllegalStateException("PostgreSQL on port " + port() + " is down. Call startAgain().");
        }
        return postmaster;
    }

    private static String slot(int port) {
        return "standby_" + port;
    }

    private Path data() {
        return scratch.path().resolve("data");
    }

    private Path pidFile() {
        return data().resolve("postmaster.pid");
    }

    private Path logFile() {
        return scratch.path().resolve("log");
    }

    /** A database of a server, with the ways to reach it. */
    public record Database(String name, String url, DataSource dataSource) {}

    /** Collects what a server needs to know before it starts; not thread-safe. */
    public static final class Builder {
        private final Map<String, String> settings = new LinkedHashMap<>(Map.of(
                "wal_level", "logical",
                "max_connections", "200",
                "log_min_messages", "warning"));
        private String version = "";
        private @Nullable Path installed;
        private ServerAccount account = ServerAccount.current();
        private @Nullable PostgresServer primary;

        private Builder() {}

        /** A setting of postgresql.conf; overrides the defaults of this class. */
        public Builder setting(String name, String value) {
            settings.put(name, value);
            return this;
        }

        /** Whether commits reach the disk; on unless switched off, which makes tests faster and crashes unsafe. */
        public Builder fsync(boolean on) {
            return setting("fsync", on ? "on" : "off")
                    .setting("synchronous_commit", on ? "on" : "off")
                    .setting("full_page_writes", on ? "on" : "off");
        }

        /** The programs of an installed PostgreSQL, such as {@code /usr/lib/postgresql/15/bin}. */
        public Builder binaries(Path directory) {
            installed = directory;
            return this;
        }

        /** Which of several PostgreSQL archives on the classpath to use, such as {@code 17} or {@code 17.11}. */
        public Builder version(String version) {
            this.version = version;
            return this;
        }

        /** A standby of this server, with a copy of its data; follows it until it is {@link PostgresServer#promote promoted}. */
        public Builder standbyOf(PostgresServer primary) {
            this.primary = primary;
            return this;
        }

        Builder account(ServerAccount account) {
            this.account = account;
            return this;
        }

        /** Starts the server and returns once it accepts connections. */
        public PostgresServer start() {
            PostgresBinaries binaries = installed == null
                    ? PostgresBinaries.onClasspath(version, account)
                    : PostgresBinaries.installed(installed);
            PostgresServer server = new PostgresServer(binaries, this);
            server.create();
            return server;
        }
    }
}
