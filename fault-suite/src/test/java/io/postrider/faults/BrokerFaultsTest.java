// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.LedgerWriters;
import io.postrider.testkit.TcpProxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T24, T25, T26, T28 and T31: a broker whose answers are lost, that hangs, is slow, says no, or comes and goes. */
class BrokerFaultsTest {
    private static final int WINDOW = 200;

    @Test
    @Tag("T24")
    @Tag("sample")
    @DisplayName("Kafka's answers are lost")
    void lostAnswersMakeDuplicatesOfWhatWasInFlightAndNoMore() {
        try (Proxied servers = Proxied.start();
                Rig rig = Rig.on(servers.rig(), "T24 lost answers")) {
            RelayChild relay = rig.start(rig.relay("relay").window(WINDOW).sendTimeout(Duration.ofSeconds(2)))
                    .awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().rate(300).keys(60));
            Rig.await("events arrive", () -> rig.log().distinct() > 200);
            long before = doubts(relay);
            servers.proxy().swallowReplies();
            Rig.await("Kafka is in doubt", () -> doubts(relay) > before);
            Rig.await(
                    "Kafka has what the relay cannot know of",
                    () -> !arrivedButNotSettled(rig).isEmpty());
            List<String> unheard = arrivedButNotSettled(rig);
            servers.proxy().reset();
            servers.proxy().pass();
            rig.fault("answers swallowed until a producer was given up");
            rig.figure(unheard.size() + " had arrived without an answer");
            Duration resumed = rig.awaitSettled(Instant.now());
            rig.figure("resumed in", resumed);
            writers.stop();
            // Not before: until then there may be further doubts.
            Rig.await("all is settled", () -> rig.number("SELECT count(*) FROM outbox_event") == 0);
            assertThat(doubts(relay)).isBetween(1L, 3L);
            assertThat(unheard).hasSizeLessThanOrEqualTo(WINDOW);
            assertThat(rig.texts("SELECT event_id FROM outbox_history")).containsAll(unheard);
            assertThat(resumed).isLessThanOrEqualTo(Duration.ofSeconds(5));
            rig.assertSound(WINDOW * doubts(relay));
        }
    }

    @Test
    @Tag("T25")
    @DisplayName("The connection to Kafka is half open")
    void aHalfOpenConnectionIsGivenUpInTime() {
        try (Proxied servers = Proxied.start();
                Rig rig = Rig.on(servers.rig(), "T25 half-open socket")) {
            RelayChild relay = rig.start(rig.relay("relay").window(WINDOW)).awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().rate(200).keys(60));
            Rig.await("events arrive", () -> rig.log().distinct() > 200);
            servers.proxy().halfOpenPresent();
            Instant cut = Instant.now();
            rig.fault("open connections go silent");
            // Answers that were on their way when it was cut have been settled by then, also on a busy machine.
            Instant from = cut.plusSeconds(2);
            Rig.await(
                    "something is settled again",
                    () -> rig.firstSettled("relay", from).isPresent());
            Duration detected =
                    Duration.between(cut, rig.firstSettled("relay", from).orElseThrow());
            rig.figure("flows again after", detected);
            writers.stop();
            rig.assertSound(WINDOW * Math.max(1, doubts(relay)));
            assertThat(detected).as("not before the connection was given up").isGreaterThan(Duration.ofSeconds(3));
            assertThat(detected).isLessThanOrEqualTo(Duration.ofSeconds(15));
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
        }
    }

    @Test
    @Tag("T26")
    @DisplayName("Kafka is slow")
    void aSlowBrokerFillsTheWindowAndNoMoreAndTheLeaseIsKept() {
        try (Proxied servers = Proxied.start();
                Rig rig = Rig.on(servers.rig(), "T26 slow broker")) {
            rig.start(rig.relay("relay").window(WINDOW)).awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().rate(400).keys(60));
            Rig.await("events arrive", () -> rig.log().distinct() > 200);
            long epochs = rig.number("SELECT sum(epoch) FROM outbox_shard");
            servers.proxy().throttle(20_000);
            rig.fault("20,000 bytes per second for 12 s");
            long most = 0;
            Instant end = Instant.now().plusSeconds(12);
            while (Instant.now().isBefore(end)) {
                most = Math.max(most, rig.number("SELECT coalesce(max(in_flight), 0) FROM outbox_relay"));
                Rig.pause(Duration.ofMillis(200));
            }
            long behind = rig.number("SELECT count(*) FROM outbox_event");
            servers.proxy().pass();
            writers.stop();
            rig.assertSound(0);
            rig.figure("at most " + most + " in flight of " + behind);
            assertThat(behind).as("more than it could take").isGreaterThan(2 * WINDOW);
            assertThat(most).isBetween((long) WINDOW / 4, (long) WINDOW);
            assertThat(rig.number("SELECT sum(epoch) FROM outbox_shard"))
                    .as("no shard changed hands")
                    .isEqualTo(epochs);
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
        }
    }

    @Test
    @Tag("T28")
    @DisplayName("The right to write is taken away and given back")
    void whoMayNotWriteWaitsAndGoesOnByItselfWhenItMayAgain() throws Exception {
        try (KafkaServer kafka = KafkaServer.builder()
                        .autoCreateTopics(false)
                        .setting("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer")
                        .setting("allow.everyone.if.no.acl.found", "true")
                        .startProcess();
                Rig rig = Rig.on(new Rig.Servers(SharedServers.get().postgres(), kafka), "T28 not authorised");
                Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()))) {
            RelayChild relay = rig.start(rig.relay("relay").window(WINDOW)).awaitStarted();
            LedgerWriters writers = rig.start(rig.writers().rate(300).keys(60));
            Rig.await("events arrive", () -> rig.log().distinct() > 200);
            AclBinding denied = new AclBinding(
                    new ResourcePattern(ResourceType.TOPIC, rig.stream(), PatternType.LITERAL),
                    new AccessControlEntry("User:ANONYMOUS", "*", AclOperation.WRITE, AclPermissionType.DENY));
            AclBinding read = new AclBinding(
                    denied.pattern(),
                    new AccessControlEntry("User:ANONYMOUS", "*", AclOperation.ALL, AclPermissionType.ALLOW));
            admin.createAcls(List.of(denied, read)).all().get(30, TimeUnit.SECONDS);
            Rig.await("its gate is closed", () -> rig.number(gates(rig)) == 1);
            Rig.pause(Duration.ofSeconds(4));
            rig.fault("the right to write revoked for some seconds");
            admin.deleteAcls(List.of(denied.toFilter(), read.toFilter())).all().get(30, TimeUnit.SECONDS);
            Instant restored = Instant.now();
            Duration resumed = rig.awaitSettled(restored);
            rig.figure("resumed in", resumed);
            writers.stop();
            rig.assertSound(WINDOW);
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
            assertThat(relay.logLines()).anyMatch(line -> line.contains("TOPIC_AUTHORIZATION"));
            assertThat(resumed).isLessThanOrEqualTo(Duration.ofSeconds(5));
        }
    }

    @Test
    @Tag("T31")
    @DisplayName("The broker is restarted again and again")
    void aBrokerThatIsRestartedAgainAndAgainLosesAndReordersNothing() {
        try (KafkaServer kafka = SharedServers.kafka();
                Rig rig = Rig.on(new Rig.Servers(SharedServers.get().postgres(), kafka), "T31 broker restarts")) {
            LedgerWriters writers = rig.start(rig.writers().rate(300).keys(60));
            Rig.await("more waits than the relay can send at once", () -> writers.committed() > 5 * WINDOW);
            RelayChild relay = rig.start(rig.relay("relay").window(WINDOW).sendTimeout(Duration.ofSeconds(5)))
                    .awaitStarted();
            int restarts = Rig.LONG ? 10 : 3;
            long leastUnderWay = WINDOW;
            Duration longest = Duration.ZERO;
            for (int i = 0; i < restarts; i++) {
                // The backlog of the time before is being sent.
                int before = rig.log().distinct();
                Rig.await("events arrive", () -> rig.log().distinct() > before + 100);
                if (i % 2 == 0) {
                    kafka.kill();
                } else {
                    kafka.stop();
                }
                leastUnderWay = Math.min(leastUnderWay, underWay(rig));
                kafka.startAgain();
                Duration resumed = rig.awaitSettled(Instant.now());
                longest = longest.compareTo(resumed) < 0 ? resumed : longest;
            }
            rig.fault(restarts + " restarts of the broker, by kill -9 and in order");
            rig.figure("at least " + leastUnderWay + " under way at a restart");
            rig.figure("resumed in at most", longest);
            writers.stop();
            rig.assertSound(WINDOW * Math.max(1, doubts(relay)));
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
            assertThat(leastUnderWay).as("sends without an answer").isPositive();
            assertThat(longest).isLessThanOrEqualTo(Duration.ofSeconds(5));
        }
    }

    /** How many sends have no answer now, as the only relay says. */
    private static long underWay(Rig rig) {
        long beat = rig.number("SELECT beat FROM outbox_relay");
        // The next beat may have been counted earlier.
        Rig.await("the relay beats twice", () -> rig.number("SELECT beat FROM outbox_relay") > beat + 1);
        return rig.number("SELECT in_flight FROM outbox_relay");
    }

    /** The events that are in the topic and, as their answers are not heard, also still in the table. */
    private static List<String> arrivedButNotSettled(Rig rig) {
        // In this order: what was answered before is settled long since.
        Set<String> arrived = rig.log().entries().stream()
                .map(entry -> entry.eventId().toString())
                .collect(Collectors.toSet());
        return rig.texts("SELECT event_id FROM outbox_event").stream()
                .filter(arrived::contains)
                .toList();
    }

    private static String gates(Rig rig) {
        return "SELECT count(*) FROM outbox_relay WHERE '" + rig.stream() + "' = ANY (closed)";
    }

    /** How often a producer was given up with sends in doubt. */
    private static long doubts(RelayChild relay) {
        return relay.logLines().stream()
                .filter(line -> line.contains("gave no answer"))
                .count();
    }

    /** A broker that clients reach through a proxy only. */
    private record Proxied(TcpProxy proxy, KafkaServer kafka) implements AutoCloseable {
        static Proxied start() {
            TcpProxy proxy = TcpProxy.open();
            KafkaServer kafka = KafkaServer.builder()
                    .autoCreateTopics(false)
                    .advertised(proxy.host(), proxy.port())
                    .startProcess();
            proxy.forwardTo("127.0.0.1", kafka.port());
            return new Proxied(proxy, kafka);
        }

        Rig.Servers rig() {
            return new Rig.Servers(SharedServers.get().postgres(), kafka);
        }

        @Override
        public void close() {
            kafka.close();
            proxy.close();
        }
    }
}
