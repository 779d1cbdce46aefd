// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.postrider.ops.Alert;
import io.postrider.ops.AlertChannel;
import io.postrider.ops.AlertKind;
import io.postrider.ops.Alerts;
import io.postrider.ops.Condition;
import io.postrider.ops.LogChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What people are told, how often, and what they are not told twice. */
class AlertsTest {
    private static final TestDatabase database = TestDatabase.migrated();

    private AlertRig rig;

    @BeforeEach
    void start() {
        database.clear();
        rig = new AlertRig();
    }

    @AfterEach
    void stop() {
        rig.close();
    }

    @Test
    void tenThousandDeadLettersAreOneAlertAndTheirEndIsAnother() {
        Alerts alerts = rig.alerts(database).newsEvery(Duration.ofMinutes(5)).build();
        alerts.look();
        assertThat(rig.messages()).isEmpty();
        dead("orders", 3000);
        alerts.look();
        dead("orders", 6999);
        dead("payments", 1);
        alerts.look();
        assertThat(rig.received.get(0).get("examples"))
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .hasSize(5);
        assertThat(rig.received.get(0).toString()).doesNotContain("payload", "PAYLOAD");
        assertThat(rig.messages())
                .containsExactly(
                        "dead-letters raised: 3000 dead in stream orders",
                        "dead-letters raised: 1 dead in stream payments");
        database.execute("UPDATE outbox_alert SET told_at = told_at - interval '5 minutes'");
        alerts.look();
        alerts.look();
        assertThat(rig.messages()).containsExactly("dead-letters raised: 9999 dead in stream orders");
        database.execute("DELETE FROM outbox_event");
        alerts.look();
        alerts.look();
        assertThat(rig.messages())
                .containsExactly("dead-letters ended: Stream orders has no dead letters any more;"
                        + " Stream payments has no dead letters any more");
    }

    @Test
    void whatDiesInAMinuteInManyStreamsIsOneMessage() {
        IntStream.range(0, 20).forEach(n -> dead("s" + (10 + n), 500));
        rig.alerts(database).build().look();
        assertThat(rig.received).hasSize(1);
        assertThat(String.valueOf(rig.received.get(0).get("subjectCount"))).isEqualTo("20");
        assertThat(rig.messages().get(0))
                .startsWith("dead-letters raised: 500 dead in stream s10;")
                .endsWith("and 10 more");
    }

    @Test
    void aNewDeadLetterIsNewsThoughAnotherHasGone() {
        Alerts alerts = rig.alerts(database).build();
        dead("s", 2);
        alerts.look();
        database.execute("DELETE FROM outbox_event WHERE id = (SELECT min(id) FROM outbox_event)");
        alerts.look();
        assertThat(rig.messages()).containsExactly("dead-letters raised: 2 dead in stream s");
        database.execute("DELETE FROM outbox_event WHERE id = (SELECT min(id) FROM outbox_event)");
        dead("s", 1);
        alerts.look();
        assertThat(rig.received.get(0).get("examples"))
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .hasSize(1);
        assertThat(rig.messages()).containsExactly("dead-letters raised: 1 dead in stream s");
    }

    @Test
    void whatExpiresLongAfterItsLastAttemptIsNews() {
        Alerts alerts = rig.alerts(database).build();
        dead("s", 1);
        alerts.look();
        assertThat(rig.messages()).hasSize(1);
        database.execute("DELETE FROM outbox_event");
        dead("s", 1);
        database.execute("UPDATE outbox_event SET last_error_code = 'EXPIRED', updated_at = clock_timestamp(),"
                + " last_attempt_at = last_attempt_at - interval '1 hour'");
        alerts.look();
        assertThat(rig.messages()).containsExactly("dead-letters raised: 1 dead in stream s");
    }

    @Test
    void whatStaysAsItIsIsRememberedNowAndThen() {
        Alerts alerts = rig.alerts(database).remindEvery(Duration.ofHours(4)).build();
        dead("s", 1);
        alerts.look();
        database.execute("UPDATE outbox_alert SET told_at = told_at - interval '239 minutes'");
        alerts.look();
        assertThat(rig.messages()).containsExactly("dead-letters raised: 1 dead in stream s");
        database.execute("UPDATE outbox_alert SET told_at = told_at - interval '1 minute'");
        alerts.look();
        alerts.look();
        assertThat(rig.messages()).containsExactly("dead-letters reminder: 1 dead in stream s");
    }

    @Test
    void whatComesAndGoesIsToldAgainOnlyAfterAWhile() {
        Alerts alerts = rig.alerts(database).newsEvery(Duration.ofMinutes(5)).build();
        relay("r", "closed = '{orders}'");
        alerts.look();
        database.execute("UPDATE outbox_relay SET closed = '{}'");
        alerts.look();
        database.execute("UPDATE outbox_relay SET closed = '{orders}'");
        alerts.look();
        assertThat(rig.messages())
                .containsExactly(
                        "destination-down raised: The destination of stream orders does not answer 1 relays; nothing is lost",
                        "destination-down ended: The destination of stream orders is not known to be down any more");
        database.execute("UPDATE outbox_alert SET told_at = told_at - interval '5 minutes'");
        alerts.look();
        assertThat(rig.messages()).hasSize(1);
    }

    @Test
    void eachConditionIsToldWhenItBeginsAndWhenItEnds() {
        Alerts alerts = rig.alerts(database)
                .watch(new Condition.Pending(3), new Condition.Retrying(1), new Condition.Oldest(Duration.ofMinutes(9)))
                .build();
        database.execute("INSERT INTO outbox_stream (stream, relay_group) VALUES ('late', 'g')");
        IntStream.range(0, 4).forEach(n -> database.event("many", "k" + n));
        database.event("late", "k", "created_at = clock_timestamp() - interval '10 minutes'");
        IntStream.range(0, 2)
                .forEach(n -> database.event(
                        "failing",
                        "k" + n,
                        "status = 'WAITING', attempt_count = 1,"
                                + " holds = true, due_at = clock_timestamp() + interval '1 hour'"));
        long held = database.event(
                "held",
                "k-7",
                "status = 'WAITING', attempt_count = 1, holds = true,"
                        + " created_at = clock_timestamp() - interval '3 hours', due_at = clock_timestamp() + interval '1 hour',"
                        + " last_attempt_at = clock_timestamp()");
        database.execute(
                "INSERT INTO outbox_attempt (event_row, event_id, attempted_at, relay, error_code, error_message)"
                        + " SELECT id, event_id, clock_timestamp() - interval '2 hours', 'r', 'E', 'e' FROM outbox_event"
                        + " WHERE id = " + held);
        relay("gone", "lease_until = clock_timestamp() - interval '1 minute'");
        relay("here", "lease_until = clock_timestamp() + interval '1 hour'");
        alerts.look();
        alerts.look();
        List<String> raised = rig.messages();
        assertThat(raised.stream().map(each -> each.replaceAll("[0-9]+ s\\b", "N s")))
                .containsExactlyInAnyOrder(
                        "pending raised: 4 pending in stream many",
                        "retrying raised: 2 failed and retrying in stream failing",
                        "oldest raised: The oldest event of stream held waits for N s; The oldest event of stream late waits for N s",
                        "held-key raised: 1 keys of stream held are held for longer than N s, k-7 for longest (N s)",
                        "relay-silent raised: Relay gone of group default is silent for N s: it died or hangs",
                        "no-relay raised: Stream late has undelivered events and no relay of group g is alive");
        assertThat(raised).anyMatch(each -> each.contains("k-7 for longest (72"));
        database.execute("DELETE FROM outbox_event; DELETE FROM outbox_relay");
        alerts.look();
        assertThat(rig.messages()).hasSize(6).allMatch(each -> each.contains(" ended: "));
    }

    @Test
    void twoProcessesThatLookAtOnceTellOnce() throws Exception {
        List<Alerts> processes =
                Stream.generate(() -> rig.alerts(database).build()).limit(4).toList();
        for (int round = 0; round < 10; round++) {
            dead("s" + round, 1);
            CyclicBarrier start = new CyclicBarrier(processes.size());
            List<Thread> threads = processes.stream()
                    .map(each -> new Thread(() -> {
                        try {
                            start.await();
                        } catch (Exception e) {
                            throw new IllegalStateException(e);
                        }
                        each.look();
                    }))
                    .toList();
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(rig.messages()).containsExactly("dead-letters raised: 1 dead in stream s" + round);
        }
    }

    @Test
    void aProcessThatIsStartedAnewDoesNotRepeatWhatWasTold() {
        dead("s", 1);
        rig.alerts(database).build().look();
        rig.alerts(database).build().look();
        assertThat(rig.messages()).hasSize(1);
    }

    @Test
    void aChannelThatFailsIsTriedAgainAfterAWhileForLongerEachTime() {
        Alerts alerts = rig.alerts(database).build();
        dead("s", 1);
        rig.answer(503);
        alerts.look();
        rig.answer(200);
        alerts.look();
        assertThat(rig.messages()).as("left alone for 30 s").isEmpty();
        assertThat(pauseOfChannel()).isBetween(20L, 30L);
        rig.answer(503);
        pass();
        alerts.look();
        assertThat(pauseOfChannel()).isBetween(45L, 60L);
        rig.answer(200);
        pass();
        alerts.look();
        alerts.look();
        assertThat(rig.messages()).containsExactly("dead-letters raised: 1 dead in stream s");
    }

    @Test
    void whatIsOverBeforeAnybodyCouldBeToldIsNotTold() {
        Alerts alerts = rig.alerts(database).build();
        dead("s", 1);
        rig.answer(503);
        alerts.look();
        database.execute("DELETE FROM outbox_event");
        rig.answer(200);
        pass();
        alerts.look();
        alerts.look();
        assertThat(rig.messages()).isEmpty();
    }

    @Test
    void aChannelThatHangsKeepsNoOtherWaiting() throws Exception {
        CountDownLatch hung = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        AlertChannel hanging = new AlertChannel() {
            @Override
            public String name() {
                return "hanging";
            }

            @Override
            public void tell(Alert alert) {
                hung.countDown();
                try {
                    release.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        };
        Alerts alerts = rig.alerts(database).tell(hanging, new LogChannel()).build();
        dead("s", 1);
        Thread look = new Thread(alerts::look);
        look.start();
        hung.await();
        await().until(() -> rig.received.size() == 1);
        dead("t", 1);
        alerts.look();
        assertThat(rig.messages()).hasSize(2);
        release.countDown();
        look.join();
    }

    @Test
    void whatWasClaimedByOneThatDiedIsToldWhenTheClaimHasRunOut() {
        dead("s", 1);
        database.execute("INSERT INTO outbox_alert (channel, condition, subject, not_before)"
                + " VALUES ('webhook', 'dead-letters', 's', clock_timestamp() + interval '1 minute')");
        Alerts alerts = rig.alerts(database).build();
        alerts.look();
        assertThat(rig.messages()).isEmpty();
        pass();
        alerts.look();
        assertThat(rig.messages()).containsExactly("dead-letters raised: 1 dead in stream s");
    }

    @Test
    void whatIsOverForADayIsForgotten() {
        Alerts alerts = rig.alerts(database).build();
        dead("s", 1);
        alerts.look();
        database.execute("DELETE FROM outbox_event");
        alerts.look();
        assertThat(database.number("SELECT count(*) FROM outbox_alert")).isEqualTo(1);
        database.execute("UPDATE outbox_alert SET not_before = not_before - interval '25 hours'");
        alerts.look();
        assertThat(database.number("SELECT count(*) FROM outbox_alert")).isZero();
    }

    @Test
    void whatIsIgnoredIsNotTold() {
        dead("s", 1);
        rig.alerts(database).ignore(AlertKind.DEAD_LETTERS).build().look();
        assertThat(rig.messages()).isEmpty();
    }

    @Test
    void settingsThatMakeNoSenseAreRefused() {
        assertThatThrownBy(() -> Alerts.builder(database.dataSource()).build())
                .hasMessage("Alerts have no channel, so nobody would be told. Give one: tell(..).");
        assertThatThrownBy(() ->
                        rig.alerts(database).tell(AlertRig.channel(rig.url())).build())
                .hasMessageStartingWith("Two alert channels are named 'webhook'");
        assertThatThrownBy(() -> rig.alerts(database)
                        .newsEvery(Duration.ofHours(5))
                        .remindEvery(Duration.ofHours(4))
                        .build())
                .hasMessageStartingWith("People are told of news every PT5H and reminded every PT4H");
        assertThatThrownBy(() -> new Condition.Pending(0))
                .hasMessageStartingWith("The threshold for pending events must be positive, not 0.");
        assertThatThrownBy(() -> rig.alerts(database).claim(Duration.ZERO)).hasMessageContaining("too short");
    }

    private static void dead(String stream, int count) {
        database.execute(
                "INSERT INTO outbox_event (stream, event_key, event_type, aggregate_type, aggregate_id, payload,"
                        + " status, attempt_count, last_attempt_at, last_error_code, last_error_message)"
                        + " SELECT '" + stream
                        + "', 'k' || n, 'T', 'Order', n, 'PAYLOAD', 'DEAD', 5, clock_timestamp(), 'BAD',"
                        + " 'bad' FROM generate_series(1, " + count + ") n");
    }

    private static void relay(String name, String change) {
        database.execute("INSERT INTO outbox_relay (name, relay_group, wants, ttl_ms, lease_until) VALUES ('" + name
                + "', 'default', 'SHARDS', 8000, clock_timestamp() + interval '1 hour');"
                + " UPDATE outbox_relay SET " + change + " WHERE name = '" + name + "'");
    }

    /** As if the time had come. */
    private static void pass() {
        database.execute("UPDATE outbox_alert SET not_before = clock_timestamp()");
    }

    private static long pauseOfChannel() {
        return database.number(
                "SELECT round(extract(epoch FROM max(not_before) - clock_timestamp())) FROM outbox_alert");
    }
}
