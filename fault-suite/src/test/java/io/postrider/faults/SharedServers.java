// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.PostgresServer;

/** Servers for all tests that do not disturb them, and the way to make others like them. */
final class SharedServers {
    private static final Rig.Servers SHARED = new Rig.Servers(postgres(), kafka());

    private SharedServers() {}

    static Rig.Servers get() {
        return SHARED;
    }

    static PostgresServer postgres() {
        // Commits reach the operating system, which outlives every crash that is made here.
        return PostgresServer.builder()
                .fsync(false)
                .setting("synchronous_commit", "on")
                .start();
    }

    static KafkaServer kafka() {
        return KafkaServer.builder().autoCreateTopics(false).startProcess();
    }
}
