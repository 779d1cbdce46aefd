// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.testkit.ChildJvm;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A {@link RelayProcess} as a test holds it. Thread-safe. */
public final class RelayChild implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(60);
    private static final Pattern OUR_LOGGER = Pattern.compile(" (TRACE|DEBUG|INFO|WARN|ERROR) io\\.postrider\\.");

    private final String name;
    private final ChildJvm jvm;

    private RelayChild(String name, ChildJvm jvm) {
        this.name = name;
        this.jvm = jvm;
    }

    /** How a relay ended after SIGTERM, as the test saw it. */
    public record End(Duration took, int exitCode, long published, long verdicts, long onCommit, long undone) {}

    static RelayChild start(RelaySetup setup, String... jvmOptions) {
        ChildJvm.Builder jvm = ChildJvm.of(RelayProcess.class)
                .jvmOptions("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
                .jvmOptions(jvmOptions)
                .args(setup.arguments());
        setup.clock().map(WrongClock::environment).ifPresent(environment -> environment.forEach(jvm::env));
        setup.classpath().ifPresent(jvm::classpath);
        return new RelayChild(setup.name(), jvm.start());
    }

    public String name() {
        return name;
    }

    /** Waits until it is one of the live relays. */
    public RelayChild awaitStarted() {
        awaitLine("started ");
        return this;
    }

    /** Waits for a line that starts with this, and returns the rest of it. */
    public String awaitLine(String start) {
        return jvm.awaitLine(line -> line.startsWith(start), START_LIMIT).substring(start.length());
    }

    /** Waits until it has died at its failpoint. */
    public void awaitDeath() {
        OptionalInt code = jvm.awaitExit(START_LIMIT);
        if (code.isEmpty() || code.getAsInt() != 137) {
            throw new AssertionError("Relay " + name + " did not die at its failpoint (exit code " + code + "): "
                    + String.join("\n", jvm.lines()));
        }
    }

    public void kill() {
        jvm.kill();
    }

    public void pause() {
        jvm.pause();
    }

    public void resume() {
        jvm.resume();
    }

    /** Sends SIGTERM and returns at once. */
    public void terminate() {
        jvm.terminate();
    }

    public boolean isAlive() {
        return jvm.isAlive();
    }

    /** Sends SIGTERM and waits for the end. */
    public End stop() {
        long start = System.nanoTime();
        terminate();
        return awaitEnd(start);
    }

    /** The same with a second SIGTERM as soon as the first one has arrived. */
    public End stopTwice() {
        long start = System.nanoTime();
        terminate();
        awaitLine("closing ");
        terminate();
        return awaitEnd(start);
    }

    private End awaitEnd(long start) {
        OptionalInt code = jvm.awaitExit(STOP_LIMIT);
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        if (code.isEmpty()) {
            throw new AssertionError(
                    "Relay " + name + " had not ended " + took + " after SIGTERM: " + String.join("\n", jvm.lines()));
        }
        String closed = jvm.awaitLine(line -> line.startsWith("closed "), Duration.ofSeconds(5));
        return new End(
                took,
                code.getAsInt(),
                count(closed, "published"),
                count(closed, "verdicts"),
                count(closed, "onCommit"),
                count(closed, "undone"));
    }

    /** All that it has printed. */
    public List<String> lines() {
        return jvm.lines();
    }

    /** What the product's own loggers have written. */
    public List<String> logLines() {
        return lines().stream().filter(line -> OUR_LOGGER.matcher(line).find()).toList();
    }

    @Override
    public void close() {
        jvm.close();
    }

    private static long count(String line, String name) {
        Matcher matcher = Pattern.compile(name + "=([0-9]+)").matcher(line);
        if (!matcher.find()) {
            throw new AssertionError("No " + name + " in: " + line);
        }
        return Long.parseLong(matcher.group(1));
    }
}
