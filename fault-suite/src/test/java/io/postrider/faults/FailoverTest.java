// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.testkit.LedgerWriters;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** T40: the primary is demoted or dies, its standby is promoted, and relays are led to the wrong one for a while. */
@Tag("T40")
@DisplayName("A standby is promoted, and relays still reach the old primary")
class FailoverTest {
    private static final int WINDOW = 200;
    private static final Duration SOON = Duration.ofSeconds(5);

    @Test
    void aRelayThatIsLedToAStandbyDeliversNothingFromItAndComesBack() {
        try (PrimaryAndStandby pair = new PrimaryAndStandby();
                Rig rig = Rig.on(servers(pair), "T40 led to a standby")) {
            RelayChild relay = rig.start(rig.relay("relay").window(WINDOW).at(pair.port()));
            relay.awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().rate(300));
            Rig.await("events arrive", () -> rig.log().distinct() > 100);
            pair.leadTo(pair.standby());
            pair.endConnections();
            rig.fault("connections lead to a standby for 3 s");
            Rig.await("the relay has noticed", () -> complaints(relay).size() >= 2);
            assertNothingIsDelivered(rig, writers, Duration.ofSeconds(Rig.LONG ? 60 : 3));
            String database = rig.texts("SELECT current_database()").get(0);
            assertThat(pair.pendingOnStandby(database))
                    .as("known to the standby")
                    .isPositive();
            // Without ending a connection: one that was kept would lead to the standby for ever.
            pair.leadTo(pair.primary());
            Duration resumed = rig.awaitSettled(Instant.now());
            rig.figure("resumed in", resumed);
            writers.stop();
            rig.assertSound(WINDOW);
            assertThat(complaints(relay))
                    .as("one line of the loop, one of the membership")
                    .hasSize(2);
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
            assertThat(resumed).isLessThanOrEqualTo(SOON);
        }
    }

    /** What becomes of the primary. */
    enum Fate {
        DEMOTED,
        KILLED
    }

    @ParameterizedTest
    @EnumSource(Fate.class)
    void afterThePromotionAllThatWasCommittedIsDelivered(Fate fate) {
        String test = "T40 promoted, primary " + (fate == Fate.KILLED ? "killed" : "demoted");
        try (PrimaryAndStandby pair = new PrimaryAndStandby();
                Rig rig = Rig.on(servers(pair), pair.createDatabase(), test)) {
            rig.breaksTheDatabase();
            // One is led by an address that moves, the other finds the primary by itself.
            RelayChild led = rig.start(rig.relay("relay-a").window(WINDOW)).awaitStarted();
            int[] both = {pair.primary().port(), pair.standby().port()};
            rig.start(rig.relay("relay-b").window(WINDOW).at(both)).awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().rate(300));
            Rig.await("events arrive", () -> rig.log().distinct() > 300);
            if (fate == Fate.KILLED) {
                pair.primary().kill();
            } else {
                pair.demote();
                assertNothingIsDeliveredFromTheDemoted(rig, led);
            }
            long answered = writers.committed();
            pair.standby().promote();
            pair.leadTo(pair.standby());
            rig.fault("the standby promoted");
            Duration resumed = rig.awaitSettled(Instant.now());
            rig.figure("resumed in", resumed);
            Rig.pause(Duration.ofSeconds(1));
            assertThat(rig.ledger().committed()).as("all that was committed").isGreaterThanOrEqualTo(answered);
            assertThat(rig.texts("SELECT name FROM outbox_relay ORDER BY name")).containsExactly("relay-a", "relay-b");
            writers.stop();
            // Nobody died, unless a promotion on a loaded machine outlasts a lease.
            rig.assertSound(WINDOW);
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
            assertThat(resumed).isLessThanOrEqualTo(SOON);
        }
    }

    private static void assertNothingIsDeliveredFromTheDemoted(Rig rig, RelayChild relay) {
        Rig.await("the relay has noticed", () -> complaints(relay).size() >= 2);
        Rig.pause(Duration.ofMillis(300));
        int delivered = rig.log().distinct();
        Rig.pause(Duration.ofSeconds(1));
        assertThat(rig.log().distinct()).as("delivered from a demoted primary").isEqualTo(delivered);
        assertThat(complaints(relay)).hasSize(2).allMatch(line -> line.matches(".*(no writes|read-only).*"));
    }

    private static void assertNothingIsDelivered(Rig rig, LedgerWriters writers, Duration time) {
        // What was sent before is answered.
        Rig.pause(Duration.ofMillis(500));
        int delivered = rig.log().distinct();
        long committed = writers.committed();
        Rig.pause(time);
        assertThat(writers.committed()).isGreaterThan(committed + 100);
        assertThat(rig.log().distinct()).as("delivered from a standby").isEqualTo(delivered);
    }

    private static List<String> complaints(RelayChild relay) {
        return relay.logLines().stream().filter(line -> line.contains(" WARN ")).toList();
    }

    private static Rig.Servers servers(PrimaryAndStandby pair) {
        return new Rig.Servers(pair.primary(), SharedServers.get().kafka());
    }
}
