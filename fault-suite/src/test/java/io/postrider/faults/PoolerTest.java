// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.postrider.testkit.LedgerWriters;
import io.postrider.testkit.PgBouncer;
import io.postrider.testkit.PostgresServer;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T41: nobody has a session of his own. */
class PoolerTest {
    private static final int WINDOW = 200;
    private static final int POOL = 2;

    @Test
    @Tag("T41")
    @DisplayName("Everything goes through a transaction pooler")
    void nothingNeedsASessionOfItsOwn() {
        assumeTrue(
                PgBouncer.isInstalled(),
                "PgBouncer is not on this machine. Install it, such as by: apt-get install pgbouncer");
        PostgresServer postgres = SharedServers.get().postgres();
        PgBouncer.Builder described = PgBouncer.to(postgres)
                .users("postgres", "rig_writer", "rig_relay")
                .poolSize(POOL);
        try (PgBouncer pooler = described.start();
                Rig rig = Rig.on(
                        SharedServers.get(), pooler.through(postgres.createDatabase()), "T41 transaction pooler")) {
            RelayChild victim =
                    rig.start(rig.quickRelay("victim").window(WINDOW)).awaitStarted();
            rig.start(rig.quickRelay("survivor").window(WINDOW)).awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().threads(4).rate(300));
            Rig.await("events arrive", () -> rig.log().distinct() > 300);
            assertThat(sessions(rig, "rig_relay"))
                    .as("sessions of two relays with two connections each")
                    .isBetween(1L, (long) POOL);
            assertThat(sessions(rig, "rig_writer")).isBetween(1L, (long) POOL);

            // A statement that fails is repeated, and so would hide.
            assertThat(writers.broken())
                    .as("transactions that the pooler broke")
                    .isZero();
            assertThat(victim.logLines()).noneMatch(line -> line.contains(" WARN "));

            Instant killed = Instant.now();
            victim.kill();
            Rig.await("all shards are the survivor's", () -> shards(rig, "survivor") == 256);
            rig.figure("taken over in", Duration.between(killed, Instant.now()));
            rig.fault("a relay killed");

            rig.start(rig.quickRelay("successor").window(WINDOW)).awaitStarted();
            rig.breaksTheDatabase();
            pooler.restart();
            Duration resumed = rig.awaitSettled(Instant.now());
            rig.figure("resumed in", resumed);
            rig.fault("the pooler restarted");
            Rig.pause(Duration.ofSeconds(1));
            writers.stop();
            rig.assertSound(WINDOW);
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
            assertThat(resumed).isLessThanOrEqualTo(Duration.ofSeconds(3));
        }
    }

    private static long sessions(Rig rig, String user) {
        return rig.number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = '"
                + user + "'");
    }

    private static long shards(Rig rig, String relay) {
        return rig.number("SELECT count(*) FROM outbox_shard s JOIN outbox_relay r ON r.id = s.owner WHERE r.name = '"
                + relay + "'");
    }
}
