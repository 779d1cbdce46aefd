// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import io.postrider.testkit.ChildJvm;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A {@link RelayMain} in a JVM of its own, which can be killed and started again. Thread-safe. */
final class RelayProcess implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    private final String name;
    private final String[] args;
    private @Nullable ChildJvm jvm;

    RelayProcess(String name, String url, String bootstrapServers, int leaseSeconds) {
        this.name = name;
        this.args = new String[] {name, url, bootstrapServers, Integer.toString(leaseSeconds)};
    }

    String name() {
        return name;
    }

    /** Begins to start it; see {@link #awaitReady}. */
    synchronized void start() {
        jvm = ChildJvm.of(RelayMain.class)
                .jvmOptions("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
                .args(args)
                .start();
    }

    synchronized void awaitReady() {
        if (jvm != null) {
            jvm.awaitLine(RelayMain.READY::equals, START_LIMIT);
        }
    }

    /** Ends it with kill -9, and keeps what it had to say in this JVM's log. */
    synchronized void kill() {
        if (jvm != null) {
            jvm.close();
            jvm.lines().stream()
                    .filter(line -> !line.equals(RelayMain.READY))
                    .forEach(line -> System.err.println(name + ": " + line));
            jvm = null;
        }
    }

    @Override
    public void close() {
        kill();
    }
}
