// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A main class in a JVM of its own, by default with this JVM's classpath, to be killed, paused and ended at will.
 *
 * <pre>{@code
 * try (ChildJvm relay = ChildJvm.of(RelayMain.class).args(url).jvmOptions("-Xmx128m").start()) {
 *     relay.awaitLine(line -> line.equals("ready"), Duration.ofSeconds(30));
 *     relay.kill();
 * }
 * }</pre>
 *
 * <p>What the child prints to its standard output and error is captured, both in one. The child is killed on {@link
 * #close} and when this JVM ends in whatever way, also while it is paused. If this JVM was told with {@code
 * -XX:TieredStopAtLevel} how far to compile, so is the child. Thread-safe.
 */
public final class ChildJvm implements AutoCloseable {
    private static final int KEPT_LINES = 20_000;
    private static final int SHOWN_LINES = 30;

    private final String name;
    private final Process process;
    private final OsProcess signals;
    private final Watchdog watchdog;
    private final Thread reader;
    private final Thread hook = new Thread(this::kill, "postrider-child-close");
    private final Deque<String> lines = new ArrayDeque<>();
    private boolean ended;

    private ChildJvm(String name, Process process, Watchdog watchdog) {
        this.name = name;
        this.process = process;
        this.signals = new OsProcess(process.pid());
        this.watchdog = watchdog;
        this.reader = new Thread(this::read, "postrider-child-output-" + process.pid());
    }

    /** Starts the description of a child that runs this class's main method. */
    public static Builder of(Class<?> main) {
        return new Builder(main.getName());
    }

    /** The same of a class that is not on this JVM's classpath, but on that of the child. */
    public static Builder of(String main) {
        return new Builder(main);
    }

    /** The child's process id. */
    public long pid() {
        return process.pid();
    }

    /** Whether it is running or paused. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** The last 20,000 lines that it has printed so far. */
    public List<String> lines() {
        synchronized (lines) {
            return List.copyOf(lines);
        }
    }

    /**
     * Waits for a line, which may have been printed already, and returns the first that matches.
     *
     * @throws IllegalStateException with the last lines, if none came in time, or at once with the exit code too if the
     *     child has ended
     */
    public String awaitLine(Predicate<String> wanted, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        synchronized (lines) {
            while (true) {
                for (String line : lines) {
                    if (wanted.test(line)) {
                        return line;
                    }
                }
                long left = deadline - System.nanoTime();
                if (ended || left <= 0) {
                    throw new IllegalStateException(name + " (process " + pid() + ") did not print the awaited line "
                            + (ended ? "before it ended " + exit() : "within " + timeout) + ". " + tail());
                }
                waitForLine(left);
            }
        }
    }

    /** Writes a line to the child's standard input. */
    public synchronized void send(String line) {
        try {
            process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(name + " (process " + pid() + ") does not read any more", e);
        }
    }

    /** Ends it with SIGKILL and waits until it is gone; does nothing if it is. */
    public void kill() {
        process.toHandle().destroyForcibly();
        boolean interrupted = false;
        while (true) {
            try {
                process.waitFor();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Asks it to end with SIGTERM, so that its shutdown hooks run; see {@link #awaitExit}. */
    public void terminate() {
        // Not Process.destroy, which also closes the pipe and loses the child's last words.
        process.toHandle().destroy();
    }

    /** Stops all its threads with SIGSTOP, as a long collection or a suspended machine does. */
    public void pause() {
        signals.stop();
    }

    /** Lets it go on with SIGCONT. */
    public void resume() {
        signals.signal("CONT");
    }

    /** Waits for its end and returns its exit code (137 after SIGKILL, 143 after SIGTERM); empty if it still runs. */
    public OptionalInt awaitExit(Duration timeout) {
        try {
            if (!process.waitFor(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
                return OptionalInt.empty();
            }
            reader.join(TimeUnit.SECONDS.toMillis(5));
            return OptionalInt.of(process.exitValue());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for the end of " + name, e);
        }
    }

    /** Kills it if it still runs. */
    @Override
    public void close() {
        kill();
        watchdog.close();
        ShutdownHook.remove(hook);
    }

    private void begin() {
        ShutdownHook.add(hook);
        watchdog.guard(pid(), "KILL");
        // Its id may be another's once it has ended.
        CompletableFuture<Void> unused = process.onExit().thenRun(watchdog::close);
        reader.setDaemon(true);
        reader.start();
    }

    private void read() {
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                add(line);
            }
        } catch (IOException e) {
            add("(its output could not be read further: " + e.getMessage() + ")");
        } finally {
            synchronized (lines) {
                ended = true;
                lines.notifyAll();
            }
        }
    }

    private void add(String line) {
        synchronized (lines) {
            if (lines.size() == KEPT_LINES) {
                lines.removeFirst();
            }
            lines.addLast(line);
            lines.notifyAll();
        }
    }

    private void waitForLine(long nanos) {
        try {
            TimeUnit.NANOSECONDS.timedWait(lines, nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for a line of " + name, e);
        }
    }

    /** How it ended: its output ends a moment before it does. */
    private String exit() {
        OptionalInt code = awaitExit(Duration.ofSeconds(5));
        return code.isPresent() ? "with exit code " + code.getAsInt() : "its output";
    }

    private String tail() {
        List<String> all = lines();
        return "It printed " + all.size() + " lines; the last: "
                + String.join("\n", all.subList(Math.max(0, all.size() - SHOWN_LINES), all.size()));
    }

    /** Collects what a child needs to know before it starts; not thread-safe. */
    public static final class Builder {
        private final String main;
        private final List<String> options = new ArrayList<>();
        private final List<String> arguments = new ArrayList<>();
        private final Map<String, String> environment = new LinkedHashMap<>();
        private @Nullable Path directory;
        private String classpath = System.getProperty("java.class.path");

        private Builder(String main) {
            this.main = main;
        }

        /** Adds arguments of the main method. */
        public Builder args(String... arguments) {
            this.arguments.addAll(Arrays.asList(arguments));
            return this;
        }

        /** Adds options of the JVM, such as {@code -Xmx256m} or {@code -Dname=value}. */
        public Builder jvmOptions(String... options) {
            this.options.addAll(Arrays.asList(options));
            return this;
        }

        /** Sets an environment variable; the others are those of this JVM. */
        public Builder env(String name, String value) {
            environment.put(name, value);
            return this;
        }

        /** Where it finds its classes; that of this JVM unless given. */
        public Builder classpath(String classpath) {
            this.classpath = classpath;
            return this;
        }

        /** The directory in which it runs; that of this JVM unless given. */
        public Builder directory(Path directory) {
            this.directory = directory;
            return this;
        }

        /** Starts it and returns at once. */
        public ChildJvm start() {
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(compilation());
            command.addAll(options);
            command.addAll(List.of("-cp", classpath, main));
            command.addAll(arguments);
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
            builder.environment().putAll(environment);
            if (directory != null) {
                builder.directory(directory.toFile());
            }
            Watchdog watchdog = Watchdog.start();
            try {
                ChildJvm child = new ChildJvm(main, builder.start(), watchdog);
                child.begin();
                return child;
            } catch (IOException e) {
                watchdog.close();
                throw new UncheckedIOException("A JVM for " + main + " could not be started", e);
            }
        }

        private static List<String> compilation() {
            return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                    .filter(option -> option.startsWith("-XX:TieredStopAtLevel="))
                    .toList();
        }
    }
}
