// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.testkit.LedgerWriters;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T02, T04 and T52: relays that die all the time, that are all gone for a while, and that find a mountain of work. */
class RestlessRelaysTest {
    private static final int WINDOW = 200;

    @Test
    @Tag("T02")
    @DisplayName("One of three relays is killed every two seconds")
    void aRandomRelayIsKilledEveryTwoSeconds() {
        try (Rig rig = Rig.on(SharedServers.get(), "T02 random kills")) {
            Random random = new Random(rig.seed());
            ClassArchive classes = rig.closing(new ClassArchive());
            List<RelayChild> relays = new ArrayList<>();
            relays.add(rig.start(relay(rig, "relay-0", classes), classes.recording()));
            relays.get(0).awaitStarted();
            String archived = classes.dump();
            for (int i = 1; i < 3; i++) {
                relays.add(rig.start(relay(rig, "relay-" + i, classes), archived));
            }
            relays.forEach(RelayChild::awaitStarted);
            // A fifth of them rolls back: 1,000 or 300 events a second.
            long began = System.nanoTime();
            LedgerWriters writers = rig.start(
                    rig.writers().threads(4).rate(Rig.LONG ? 1_250 : 375).keys(100));
            int kills = Rig.LONG ? 300 : 6;
            for (int i = 0; i < kills; i++) {
                Rig.pause(Duration.ofSeconds(2));
                int victim = random.nextInt(3);
                relays.get(victim).kill();
                relays.set(victim, rig.start(relay(rig, "relay-" + i + "-again", classes), archived));
            }
            Instant lastKill = Instant.now();
            rig.fault(kills + " × kill -9");
            rig.figure(Math.round(writers.committed() / ((System.nanoTime() - began) / 1e9)) + " committed per second");
            writers.stop();
            rig.assertSound((long) WINDOW * kills);
            double soon = rig.decimal("""
                    SELECT avg((settled_at - created_at <= interval '15 s')::int) FROM outbox_history""");
            Duration rest = Duration.between(lastKill, rig.lastSettled());
            rig.figure(
                    Math.round(soon * 100) + " % within 15 s, the last " + rest.toMillis() + " ms after the last kill");
            assertThat(soon).as("share delivered within 15 s of its commit").isGreaterThanOrEqualTo(0.6);
            assertThat(rest).isLessThanOrEqualTo(Duration.ofSeconds(15));
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
        }
    }

    private static RelaySetup relay(Rig rig, String name, ClassArchive classes) {
        return rig.quickRelay(name).window(WINDOW).classpath(classes.classpath());
    }

    @Test
    @Tag("T04")
    @DisplayName("All relays are dead while events are written")
    void whenAllRelaysWereDeadTheFirstOneDeliversAtOnce() {
        try (Rig rig = Rig.on(SharedServers.get(), "T04 all relays dead")) {
            RelayChild last = rig.start(rig.quickRelay("last").window(WINDOW)).awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().rate(500).events(4_000));
            Rig.await("events arrive", () -> rig.log().distinct() > 200);
            last.kill();
            rig.fault("the only relay killed while writers go on");
            writers.awaitDone(Rig.PATIENCE);
            Rig.await(
                    "its lease has run out",
                    () -> rig.number("SELECT count(*) FROM outbox_relay WHERE lease_until > clock_timestamp()") == 0);
            long backlog = rig.number("SELECT count(*) FROM outbox_event");
            Instant before = Instant.now();
            rig.start(rig.quickRelay("next").window(WINDOW)).awaitStarted();
            // By now it may have delivered all.
            Duration starting = Duration.between(before, Instant.now());
            Duration first = rig.awaitSettled(before).minus(starting);
            rig.figure(backlog + " waited");
            rig.figure("first settled in", first.isNegative() ? Duration.ZERO : first);
            rig.assertSound(WINDOW);
            assertThat(backlog).isGreaterThan(100);
            assertThat(first).isLessThanOrEqualTo(Duration.ofSeconds(2));
        }
    }

    @Test
    @Tag("T52")
    @DisplayName("Very many events become due at once")
    void manyEventsThatBecomeDueAtOnceAreSharedAndDelivered() {
        int events = Rig.LONG ? 100_000 : 20_000;
        int relays = 8;
        try (Rig rig = Rig.on(SharedServers.get(), "T52 all due at once")) {
            List<UnderWay> underWay = new ArrayList<>();
            for (int i = 0; i < relays; i++) {
                underWay.add(UnderWay.start(rig, rig.relay("relay-" + i).window(WINDOW)));
            }
            rig.write("INSERT INTO outbox_event (stream, event_key, event_type, payload, due_at) SELECT '"
                    + rig.stream() + "', 'key-' || n % 1000, 't', '\\x00',"
                    + " clock_timestamp() + interval '3 s' FROM generate_series(1, " + events + ") n");
            rig.fault(events + " events due at the same moment, " + relays + " relays");
            long start = System.nanoTime();
            Rig.await("all are settled", () -> rig.number("SELECT count(*) FROM outbox_event") == 0);
            int most = underWay.stream().mapToInt(UnderWay::most).max().orElseThrow();
            Rig.await("all have arrived", () -> rig.log().distinct() == events);
            rig.figure("all settled in", Duration.ofNanos(System.nanoTime() - start));
            rig.figure("at most " + most + " under way in a relay");
            assertThat(rig.log().size()).as("none twice").isEqualTo(events);
            assertThat(most).isBetween(1, WINDOW);
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
            rig.passed(events + " delivered · 0 lost · 0 duplicates");
        }
    }
}
