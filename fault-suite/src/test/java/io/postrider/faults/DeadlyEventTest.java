// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.ops.Actor;
import io.postrider.ops.DeadLetter;
import io.postrider.ops.DeadLetterQuery;
import io.postrider.ops.DeadLetters;
import io.postrider.testkit.LedgerWriters;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T53: an event ends every process that is about to send it. */
@Tag("T53")
@DisplayName("An event ends every relay that sends it")
class DeadlyEventTest {
    private static final int WINDOW = 200;
    private static final String DEADLY = "Deadly";
    private static final String IS_DEAD = "SELECT count(*) FROM outbox_event WHERE status = 'DEAD'";

    private final List<RelayChild> relays = new ArrayList<>();
    private boolean competing;
    private int deaths;
    private int started;

    @Test
    void anEventThatEndsEveryRelayIsDeadInTheEndAndEverythingElseIsDelivered() {
        try (Rig rig = Rig.on(SharedServers.get(), "T53 deadly event")) {
            JdbcOutbox outbox = rig.refuses().outbox();
            for (int i = 0; i < 3; i++) {
                start(rig);
            }
            relays.forEach(RelayChild::awaitStarted);
            LedgerWriters writers = rig.start(rig.writers().rate(100).keys(100));
            Rig.await("events arrive", () -> rig.log().distinct() > 100);
            long appended = System.nanoTime();
            append(outbox, rig.stream(), DEADLY);
            append(outbox, rig.stream(), "Harmless");
            rig.fault("an event that halts the JVM of every relay that sends it; each is started again");

            Rig.await("it is dead", () -> {
                restartTheDead(rig);
                return rig.number(IS_DEAD) == 1;
            });
            rig.figure(deaths + " relays died, dead after", Duration.ofNanos(System.nanoTime() - appended));
            int before = rig.log().distinct();
            Rig.await("the others flow", () -> rig.log().distinct() > before + 100);
            writers.stop();
            assertThat(rig.ledger().awaitDelivered(rig.log(), Rig.PATIENCE)).isTrue();
            restartTheDead(rig);

            assertThat(rig.texts("SELECT event_type || ' ' || status || ' ' || coalesce(last_error_code, '')"
                            + " FROM outbox_event WHERE event_key = 'deadly' ORDER BY id"))
                    .as("its key is held behind it")
                    .containsExactly("Deadly DEAD KILLED_RELAY", "Harmless PENDING ");
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isEqualTo(1);
            assertThat(deaths)
                    .as("three unmarked, five marked, and a few by chance")
                    .isBetween(8, 14);
            Rig.await("all is calm", () -> rig.number("SELECT max(unclean) FROM outbox_shard") < 3);
            discard(rig);
            rig.assertSound((long) WINDOW * deaths);
        }
    }

    @Test
    void anEventOfACompetingStreamThatEndsEveryWorkerIsDeadInTheEndAndNoOther() {
        competing = true;
        try (Rig rig = Rig.on(SharedServers.get(), "T53 deadly event, competing")) {
            JdbcOutbox outbox = rig.refuses().outbox();
            start(rig);
            start(rig);
            relays.forEach(RelayChild::awaitStarted);
            LedgerWriters writers = rig.start(rig.writers().rate(300).keys(100));
            Rig.await("events arrive", () -> rig.log().distinct() > 100);
            long appended = System.nanoTime();
            append(outbox, rig.stream(), DEADLY);
            rig.fault("an event that halts the JVM of every worker that sends it; each is started again");

            Rig.await("it is dead", () -> {
                restartTheDead(rig);
                return rig.number(IS_DEAD) > 0;
            });
            rig.figure(deaths + " workers died, dead after", Duration.ofNanos(System.nanoTime() - appended));
            int before = rig.log().distinct();
            Rig.await("the others flow", () -> rig.log().distinct() > before + 100);
            writers.stop();
            assertThat(rig.ledger().awaitDelivered(rig.log(), Rig.PATIENCE)).isTrue();

            assertThat(rig.texts("SELECT event_type || ' ' || last_error_code FROM outbox_event WHERE status = 'DEAD'"))
                    .containsExactly("Deadly LEASES_RAN_OUT");
            assertThat(deaths).as("beside all, beside few, alone").isEqualTo(3);
            discard(rig);
            rig.assertSoundInAnyOrder((long) WINDOW * deaths);
        }
    }

    /** The dead one is for a person; with it goes what waits behind it, of which the ledger knows nothing. */
    private static void discard(Rig rig) {
        rig.execute("DELETE FROM outbox_event WHERE event_type = 'Harmless'");
        DeadLetters letters = DeadLetters.of(rig.dataSource());
        List<DeadLetter> found = letters.find(DeadLetterQuery.all());
        assertThat(letters.discard(found, new Actor("kim", "it takes all memory")))
                .isEqualTo(1);
    }

    private void start(Rig rig) {
        RelaySetup setup = rig.quickRelay("relay-" + ++started).window(WINDOW).deadly(DEADLY);
        if (competing && !Rig.LONG) {
            // A worker that only stood still for as long would count as one more end.
            setup = setup.lease(Duration.ofSeconds(4));
        }
        relays.add(rig.start(competing ? setup.competing(rig.stream()) : setup));
    }

    private void restartTheDead(Rig rig) {
        for (RelayChild relay : List.copyOf(relays)) {
            if (!relay.isAlive()) {
                relay.awaitDeath();
                relays.remove(relay);
                deaths++;
                start(rig);
            }
        }
    }

    private static void append(JdbcOutbox outbox, String stream, String type) {
        outbox.transact(tx -> tx.append(OutboxEvent.of(stream, type)
                .key("deadly")
                .payload("poison".getBytes(StandardCharsets.UTF_8))
                .build()));
    }
}
