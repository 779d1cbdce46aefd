// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.jdbc.OrderedFeed;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.postgres.CommitSignal;
import io.postrider.relay.Bell;
import io.postrider.relay.Relay;
import io.postrider.testkit.Ledger;
import io.postrider.testkit.LedgerWriters;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** T42: the session that listens for commits of other processes is lost, and the notifications with it. */
class LostSignalTest {
    private static final int KILLS = 8;
    private static final String LISTENER = "t42-listener";
    private static final String LISTENERS =
            "FROM pg_stat_activity WHERE application_name = '" + LISTENER + "' AND datname = current_database()";

    @Test
    @Tag("T42")
    @DisplayName("The listener for commits is killed")
    void pollingGoesOnAndTheListenerComesBackByItself() {
        try (Rig rig = Rig.on(SharedServers.get(), "T42 listener killed")) {
            Bell heard = new Bell();
            RelaySetup setup = rig.relay("relay");
            Relay relay = rig.closing(Relay.from(OrderedFeed.of(source(setup, "relay")))
                    .to(KafkaPublisher.create(Map.of("bootstrap.servers", setup.bootstrapServers())))
                    .wokenBy(heard)
                    .build());
            relay.start();
            rig.closing(CommitSignal.of(source(setup, LISTENER), heard)
                    .onlyReceives()
                    .start());
            JdbcOutbox outbox = rig.outbox();
            rig.closing(CommitSignal.of(rig.writer(), outbox.bell()).onlySends().start());
            LedgerWriters writers =
                    rig.start(Ledger.open(rig.writer()).writers(new Ringing(outbox)).stream(rig.stream())
                            .seed(rig.seed())
                            .rate(100)
                            .lateCommits(0, Duration.ZERO)
                            .threads(2));
            Rig.await("events arrive", () -> rig.log().distinct() > 100);
            for (int i = 0; i < KILLS; i++) {
                Rig.await("it listens", () -> rig.number("SELECT count(*) " + LISTENERS) == 1);
                rig.number("SELECT count(pg_terminate_backend(pid, 5000)) " + LISTENERS);
                Rig.pause(Duration.ofMillis(700));
            }
            rig.fault(KILLS + " × the listener's session killed");
            Rig.await("it listens again", () -> rig.number("SELECT count(*) " + LISTENERS) == 1);
            writers.stop();
            rig.assertSound(0);
            double late = rig.decimal("SELECT extract(epoch FROM max(settled_at - created_at)) FROM outbox_history");
            rig.figure("the latest settled " + Math.round(late * 1000) + " ms after its insert");
            // Half a second between two polls, and what a loaded machine needs.
            assertThat(late).isLessThan(3);
        }
    }

    private static PGSimpleDataSource source(RelaySetup setup, String application) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(setup.url());
        source.setApplicationName(application);
        return source;
    }

    /** Rings after each commit. */
    private record Ringing(JdbcOutbox outbox) implements Ledger.Appender {
        @Override
        public void append(Connection connection, OutboxEvent event) {
            outbox.on(connection).append(event);
        }

        @Override
        public void committed(Connection connection) {
            outbox.committed();
        }
    }
}
