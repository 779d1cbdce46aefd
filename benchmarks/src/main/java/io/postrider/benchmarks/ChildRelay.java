// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.jdbc.StreamSettings.History;
import io.postrider.testkit.ChildJvm;
import java.time.Duration;
import java.util.List;

/** A relay in a JVM of its own, from outside. For one thread. */
final class ChildRelay implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ChildJvm jvm;
    private int round;

    /** @param heap such as {@code 256m} */
    ChildRelay(Rig rig, History history, int loops, String heap) {
        jvm = ChildJvm.of(RelayMain.class)
                .args(rig.url(), rig.bootstrapServers(), history.name(), String.valueOf(loops))
                .jvmOptions("-Xmx" + heap)
                .start();
        jvm.awaitLine(RelayMain.READY::equals, PATIENCE);
    }

    void start() {
        jvm.send(RelayMain.START);
    }

    /** Events settled since the last start. */
    long published() {
        if (!jvm.isAlive()) {
            throw new IllegalStateException("The relay's JVM ended: " + String.join("\n", jvm.lines()));
        }
        List<String> lines = jvm.lines();
        for (int i = lines.size() - 1; i >= 0; i--) {
            String line = lines.get(i);
            if (line.startsWith(RelayMain.STOPPED)) {
                return 0;
            }
            if (line.startsWith(RelayMain.PUBLISHED)) {
                return Long.parseLong(line.substring(RelayMain.PUBLISHED.length()));
            }
        }
        return 0;
    }

    void stop() {
        round++;
        jvm.send(RelayMain.STOP);
        jvm.awaitLine((RelayMain.STOPPED + round)::equals, PATIENCE);
    }

    @Override
    public void close() {
        jvm.close();
    }
}
