// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.postrider.table.Schema;
import io.postrider.testkit.ChildJvm;
import io.postrider.testkit.LedgerWriters;
import io.postrider.testkit.PostgresServer;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** T58: an upgrade under load, with processes of both versions dying on the way. */
class TwoVersionsTest {
    private static final String NOW = System.getProperty("java.class.path");

    @Test
    @Tag("T58")
    @DisplayName("Old and new version mixed, migration under load")
    void oldAndNewShareTheWorkWhileTheTablesAreMigrated(@TempDir Path directory) throws IOException, SQLException {
        assumeTrue(PreviousVersion.isKnown(), "needs the history of the repository: a whole clone, not a shallow one");
        String before = PreviousVersion.classpath(directory);
        PostgresServer.Database database = SharedServers.get().postgres().createDatabase();
        migrate(before, database.url());
        try (Rig rig = Rig.on(SharedServers.get(), database, "T58 two versions")) {
            new Upgrade(rig, before, database.url()).run();
        }
    }

    private static void migrate(String classpath, String url) {
        try (ChildJvm migrator = SchemaProcess.start(classpath, url)) {
            SchemaProcess.awaitDone(migrator);
        }
    }

    /** From tables of the version before, with processes of that version, to this one. */
    private static final class Upgrade {
        private final Rig rig;
        private final String before;
        private final String url;
        private long inDoubt;

        Upgrade(Rig rig, String before, String url) {
            this.rig = rig;
            this.before = before;
            this.url = url;
        }

        void run() throws SQLException {
            assertThat(version()).isEqualTo(Schema.latestVersion() - 1);
            RelayChild oldApplication =
                    rig.start(rig.application("old-application", 150).classpath(before));
            RelayChild oldRelay = rig.start(rig.quickRelay("old-relay").classpath(before));
            oldApplication.awaitStarted();
            oldRelay.awaitStarted();
            awaitMore();
            migrateUnderLoad();
            awaitMore();

            RelayChild newApplication =
                    rig.start(rig.application("new-application", 150)).awaitStarted();
            RelayChild newRelay = rig.start(rig.quickRelay("new-relay")).awaitStarted();
            // What these write is delivered by whoever owns the shard, of either version.
            LedgerWriters writers = rig.start(rig.writers().rate(300));
            awaitShared(4);
            awaitMore();
            kill(oldRelay);
            // As an instance does that starts again: its own migrator looks at the tables, too.
            migrate(before, url);
            oldRelay = rig.start(rig.quickRelay("old-relay-again").classpath(before))
                    .awaitStarted();
            awaitShared(4);
            kill(newRelay);
            newRelay = rig.start(rig.quickRelay("new-relay-again")).awaitStarted();
            awaitShared(4);
            rig.fault("one of each version killed and started again");

            long settledByOld = rig.number("SELECT count(*) FROM outbox_history WHERE settled_by LIKE 'old%'");
            assertThat(oldRelay.stop().exitCode()).isEqualTo(143);
            assertThat(oldApplication.stop().exitCode()).isEqualTo(143);
            awaitMore();
            long settledByNew = rig.number("SELECT count(*) FROM outbox_history WHERE settled_by LIKE 'new%'");
            assertThat(settledByOld).isPositive();
            assertThat(settledByNew).isPositive();
            rig.figure(settledByOld + " delivered by the old version, " + settledByNew + " by the new");
            assertThat(rig.number("SELECT count(*) FROM outbox_relay WHERE version IS NULL"))
                    .isZero();
            assertThat(newRelay.isAlive()).isTrue();
            writers.stop();
            newApplication.stop();
            rig.assertSound(inDoubt);
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
        }

        /** Migrates while events are written and delivered, and one transaction keeps all the locks that it has got. */
        private void migrateUnderLoad() throws SQLException {
            try (Connection idle = rig.dataSource().getConnection();
                    Statement reading = idle.createStatement();
                    Connection watching = rig.dataSource().getConnection()) {
                idle.setAutoCommit(false);
                reading.execute("SELECT FROM outbox_relay LIMIT 1");
                reading.execute("SELECT FROM outbox_event LIMIT 1");
                LockWaits waits = new LockWaits(watching);
                try (ChildJvm migrator = SchemaProcess.start(NOW, url)) {
                    Rig.await(
                            "the migration has given way three times",
                            () -> waits.look().migrations() >= 3);
                    idle.rollback();
                    Rig.await("the migration is done", () -> waits.look() != null && !migrator.isAlive());
                    SchemaProcess.awaitDone(migrator);
                }
                assertThat(version()).isEqualTo(Schema.latestVersion());
                assertThat(waits.ofWriters())
                        .as("who waited for a lock on the table of events")
                        .isEmpty();
                // Behind one that does not give way they would wait until the idle transaction ends.
                assertThat(waits.longest()).isLessThan(Duration.ofSeconds(2));
                rig.fault("migrated to version " + version() + ", at the fourth try or later");
                rig.figure("no writer waited, relays at most", waits.longest());
            }
        }

        private int version() {
            return Schema.of(rig.dataSource()).version();
        }

        private void kill(RelayChild relay) {
            relay.kill();
            inDoubt += rig.number("SELECT count(*) FROM outbox_event");
            awaitMore();
        }

        private void awaitMore() {
            long arrived = rig.log().distinct();
            Rig.await("more events arrive", () -> rig.log().distinct() > arrived + 500);
        }

        /** Waits until so many have a share of the work, and no other has. */
        private void awaitShared(int relays) {
            Rig.await("the work is shared by " + relays, () -> rig.number("""
                SELECT count(DISTINCT owner) FILTER (WHERE r.id IS NOT NULL) - count(*) FILTER (WHERE r.id IS NULL)
                FROM outbox_shard s
                LEFT JOIN outbox_relay r ON r.id = s.owner AND r.lease_until > clock_timestamp()""") == relays);
        }
    }
}
