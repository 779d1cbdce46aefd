// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import io.postrider.testkit.ChildJvm;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A {@link WorkerMain} in a JVM of its own, which can be killed and started again. Thread-safe. */
final class WorkerProcess implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(90);

    private final String name;
    private final String[] args;
    private @Nullable ChildJvm jvm;

    WorkerProcess(Role role, int number, Addresses addresses) {
        this.name = role.group() + "-" + number;
        this.args = new String[] {role.name(), name, addresses.database(), addresses.exchange(), addresses.kafka()};
    }

    /** Where everything is. */
    record Addresses(String database, String exchange, String kafka) {}

    String name() {
        return name;
    }

    synchronized void start() {
        jvm = ChildJvm.of(WorkerMain.class)
                .jvmOptions("-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
                .args(args)
                .start();
    }

    synchronized void awaitReady() {
        if (jvm != null) {
            jvm.awaitLine(WorkerMain.READY::equals, START_LIMIT);
        }
    }

    /** Ends it with kill -9, and keeps what it had to say in this JVM's log. */
    synchronized void kill() {
        if (jvm != null) {
            jvm.close();
            jvm.lines().stream()
                    .filter(line -> !line.equals(WorkerMain.READY))
                    .forEach(line -> System.err.println(name + ": " + line));
            jvm = null;
        }
    }

    @Override
    public void close() {
        kill();
    }
}
