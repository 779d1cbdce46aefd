// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.postrider.testkit.LedgerWriters;
import io.postrider.testkit.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * T44: the disk of the tables is full, then freed. The log of the server has another disk: where that is full, PostgreSQL
 * ends itself, and the rest is T06.
 */
class FullDiskTest {
    private static final int WINDOW = 2_000;
    private static final int BACKLOG = 1_000;

    @Test
    @Tag("T44")
    @DisplayName("The disk of the tables is full, then freed")
    void nothingIsLostWhileTheDiskIsFullAndAllGoesOnWhenItIsFreed() throws SQLException {
        Optional<SmallDisk> mounted = SmallDisk.mount(64);
        assumeTrue(mounted.isPresent(), "A small file system cannot be mounted here: run this test as root");
        try (SmallDisk disk = mounted.orElseThrow();
                PostgresServer postgres = SharedServers.postgres();
                Rig rig = rigOn(disk, postgres)) {
            RelayChild relay = rig.start(rig.relay("relay").window(WINDOW)).awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().rate(500));
            Rig.await("events arrive", () -> rig.log().distinct() > 100);

            // More than fits into what is left of the pages of the history.
            long committed = writers.committed();
            relay.pause();
            Rig.await("events wait", () -> writers.committed() > committed + BACKLOG);
            rig.breaksTheDatabase();
            disk.fill();
            relay.resume();
            Duration full = fullFor();
            rig.fault("disk full for " + full.toSeconds() + " s");
            Rig.await("writers fail", () -> writers.broken() > 5);
            Rig.await("the relay cannot settle", () -> lines(relay, "Could not settle events") > 0);
            int lines = relay.logLines().size();
            Rig.pause(full);
            int said = relay.logLines().size() - lines;
            rig.figure(said + " log lines meanwhile");
            assertThat(rig.number("SELECT count(*) FROM outbox_event"))
                    .as("delivered, and not settled")
                    .isPositive();

            disk.free();
            Duration resumed = rig.awaitSettled(Instant.now());
            rig.figure("resumed in", resumed);
            long before = writers.committed();
            Rig.await("writers go on", () -> writers.committed() > before + 100);
            writers.stop();
            rig.assertSound(0);
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
            assertThat((long) said).isLessThanOrEqualTo(full.toSeconds());
            assertThat(lines(relay, "No space left on device")).isPositive();
            assertThat(postgres.log()).contains("No space left on device").doesNotContain("PANIC");
            assertThat(resumed).isLessThanOrEqualTo(Duration.ofSeconds(5));
        }
    }

    private static Duration fullFor() {
        return Duration.ofSeconds(Rig.LONG ? 60 : 5);
    }

    private static long lines(RelayChild relay, String text) {
        return relay.logLines().stream().filter(line -> line.contains(text)).count();
    }

    /** A rig whose whole database is on this disk. */
    private static Rig rigOn(SmallDisk disk, PostgresServer postgres) throws SQLException {
        PostgresServer.Database database = postgres.createDatabase();
        try (Connection connection = postgres.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            String tables = disk.directory().resolve("tables").toString();
            // By the server, to which it must belong.
            statement.execute("COPY (SELECT 1) TO PROGRAM 'cat > /dev/null; mkdir " + tables + "'");
            statement.execute("CREATE TABLESPACE small LOCATION '" + tables + "'");
            statement.execute("ALTER DATABASE " + database.name() + " SET TABLESPACE small");
        }
        return Rig.on(new Rig.Servers(postgres, SharedServers.get().kafka()), database, "T44 disk full");
    }
}
