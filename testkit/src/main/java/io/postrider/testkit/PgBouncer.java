// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A real PgBouncer in front of a {@link PostgresServer}, on a loopback port, with a pool per transaction. It must be
 * installed: {@link #isInstalled}.
 *
 * <pre>{@code
 * try (PgBouncer pooler = PgBouncer.to(postgres).users("postgres").poolSize(2).start()) {
 *     PostgresServer.Database pooled = pooler.through(postgres.createDatabase());
 * }
 * }</pre>
 *
 * <p>Ends on {@link #close}, and when this JVM ends in whatever way. Thread-safe.
 */
public final class PgBouncer implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final Path program;
    private final Builder settings;
    private final ServerAccount account = ServerAccount.current();
    private final LoopbackPort port = LoopbackPort.reserve();
    private final ScratchDirectory scratch = ScratchDirectory.create("pgbouncer");
    private final Watchdog watchdog = Watchdog.start();
    private @Nullable OsProcess process;

    private PgBouncer(Path program, Builder settings) {
        this.program = program;
        this.settings = settings;
        watchdog.remove(scratch.path());
    }

    /** Whether there is one on this machine. */
    public static boolean isInstalled() {
        return program().isPresent();
    }

    /** Starts the description of one in front of this server. */
    public static Builder to(PostgresServer server) {
        return new Builder(server);
    }

    public int port() {
        return port.number();
    }

    /** The same database, reached through the pooler, by a driver that prepares no statements on the server. */
    public PostgresServer.Database through(PostgresServer.Database database) {
        String url = database.url().replaceFirst(":[0-9]+/", ":" + port() + "/") + "&prepareThreshold=0";
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url);
        return new PostgresServer.Database(database.name(), url, source);
    }

    /** Ends it, with all connections, and starts it again on the same port. */
    public synchronized void restart() {
        end();
        launch();
    }

    @Override
    public synchronized void close() {
        end();
        scratch.close();
        watchdog.close();
        port.close();
    }

    private void end() {
        if (process != null) {
            process.signal("TERM");
            if (!process.awaitGone(LIMIT)) {
                process.signal("KILL");
            }
            process = null;
            watchdog.forget();
        }
    }

    private void configure() {
        Map<String, String> all = new LinkedHashMap<>(settings.settings);
        all.put("listen_addr", "127.0.0.1");
        all.put("listen_port", Integer.toString(port()));
        all.put("unix_socket_dir", "");
        all.put("auth_type", "trust");
        all.put("auth_file", users().toString());
        String lines = all.entrySet().stream()
                .map(each -> each.getKey() + " = " + each.getValue())
                .collect(lines());
        write(file(), "[databases]\n* = host=127.0.0.1 port=" + settings.server.port() + "\n[pgbouncer]\n" + lines);
        write(
                users(),
                settings.users.stream().map(each -> "\"" + each + "\" \"\"").collect(lines()));
    }

    private static Collector<CharSequence, ?, String> lines() {
        return Collectors.joining("\n", "", "\n");
    }

    private void write(Path file, String text) {
        try {
            Files.writeString(file, text);
            account.give(file);
        } catch (IOException e) {
            throw new UncheckedIOException("The settings of PgBouncer could not be written", e);
        }
    }

    private void launch() {
        try {
            Process started = new ProcessBuilder(account.command(List.of(program.toString(), file().toString())))
                    .directory(new File("/tmp"))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()))
                    .start();
            started.getOutputStream().close();
            process = new OsProcess(started.pid());
            watchdog.guard(started.pid(), "TERM");
            awaitReady(process);
        } catch (IOException e) {
            throw new UncheckedIOException("PgBouncer could not be started from " + program, e);
        }
    }

    private void awaitReady(OsProcess started) throws IOException {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (!listens()) {
            if (started.isGone() || System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("PgBouncer does not listen. Its log: " + Files.readString(log()));
            }
            Pause.millis(10);
        }
    }

    private boolean listens() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(LoopbackPort.address(), port()));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private Path file() {
        return scratch.path().resolve("pgbouncer.ini");
    }

    private Path users() {
        return scratch.path().resolve("users");
    }

    private Path log() {
        return scratch.path().resolve("log");
    }

    private static Optional<Path> program() {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        // Debian puts it where only root looks.
        return Stream.concat(Stream.of(path.split(File.pathSeparator)), Stream.of("/usr/sbin", "/usr/local/sbin"))
                .map(directory -> Path.of(directory, "pgbouncer"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Collects what a pooler needs to know before it starts; not thread-safe. */
    public static final class Builder {
        private final PostgresServer server;
        private final Map<String, String> settings = new LinkedHashMap<>();
        private final List<String> users = new ArrayList<>();

        private Builder(PostgresServer server) {
            this.server = server;
            setting("pool_mode", "transaction");
            setting("ignore_startup_parameters", "extra_float_digits");
        }

        /** A setting of pgbouncer.ini; overrides those of this class. */
        public Builder setting(String name, String value) {
            settings.put(name, value);
            return this;
        }

        /** Lets these users in; each has a pool of its own. */
        public Builder users(String... names) {
            users.addAll(List.of(names));
            return this;
        }

        /** How many connections to the server the clients of one user and database share; 20 unless given. */
        public Builder poolSize(int connections) {
            return setting("default_pool_size", Integer.toString(connections));
        }

        /** Starts it and returns once it listens. */
        public PgBouncer start() {
            Path program = program()
                    .orElseThrow(() -> new IllegalStateException(
                            "PgBouncer is not on this machine. Install it, such as by: apt-get install pgbouncer"));
            PgBouncer pooler = new PgBouncer(program, this);
            try {
                pooler.configure();
                pooler.launch();
                return pooler;
            } catch (RuntimeException e) {
                pooler.close();
                throw e;
            }
        }
    }
}
