// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.internal.LeaseSql;
import io.postrider.relay.Bell;
import io.postrider.relay.Bell.Handed;
import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.FeedException;
import io.postrider.relay.Outcome;
import io.postrider.relay.Taken;
import io.postrider.relay.Verdict;
import io.postrider.table.TableNames;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is handed over at a commit is read once, in order, and given back if it cannot be sent. */
class LeasedIntakeTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final String DUE_LATER =
            "SELECT count(*) FROM outbox_event WHERE due_at > clock_timestamp() + interval '10 s'";
    private static final Demand ALL = Demand.of(1_000, Long.MAX_VALUE, Set.of());

    private final JdbcOutbox outbox = JdbcOutbox.of(database.dataSource()).withLease(Duration.ofMinutes(1));
    private final AtomicBoolean broken = new AtomicBoolean();
    private final AtomicLong ticker = new AtomicLong();
    private final AtomicInteger passedOver = new AtomicInteger();
    private final List<Handed> handed = new ArrayList<>();
    private Party relay;
    private LeasedIntake intake;

    @BeforeEach
    void join() {
        database.clear();
        relay = Party.joining(database, "relay");
        relay.ownership.renewed(Long.MAX_VALUE / 2);
        Session session = new Session(FailingSource.of(database.dataSource(), broken::get), Duration.ofSeconds(30));
        LeaseStatements leases = new LeaseStatements(
                session,
                new LeaseSql(TableNames.ofDefaults()),
                new EventStatements(session, Party.SQL, Party.settings("default"), "relay", relay.ownership),
                relay.ownership,
                ticker::get);
        intake = new LeasedIntake(leases, relay.ownership, ticker::get, passedOver::incrementAndGet);
        outbox.bell().onRing(new Bell.Hearer() {
            @Override
            public void rung() {}

            @Override
            public OptionalLong lessee(OutboxEvent event) {
                return intake.lessee(event);
            }

            @Override
            public void handedOver(List<Handed> events) {
                handed.addAll(events);
            }
        });
    }

    @AfterEach
    void close() {
        broken.set(false);
        intake.close();
        relay.close();
    }

    @Test
    void whatIsHandedOverIsTakenOnce() {
        append("k", "a");
        append("k", "b");
        intake.handOver(handed);
        assertThat(types(intake.take(ALL))).containsExactly("a", "b");
        intake.handOver(handed);
        assertThat(types(intake.take(ALL))).isEmpty();
        assertThat(passedOver).hasValue(0);
        assertThat(intake.size()).isEqualTo(2);
    }

    @Test
    void whereNothingMoreIsLeasedTheOtherLoopsAreToldOfEachSettle() {
        append("k", "a");
        intake.handOver(handed);
        Taken taken = intake.take(ALL);
        relay.ownership.add(IntStream.range(0, Ownership.SHARDS).boxed().collect(Collectors.toMap(s -> s, s -> 1L)));
        database.event("s", "stands behind it", "event_key = 'k'");
        assertThat(passedOver).hasValue(0);
        intake.settle(taken.deliveries());
        assertThat(passedOver).hasValue(1);
    }

    @Test
    void noMoreIsTakenThanThereIsRoomFor() {
        for (String type : List.of("a", "b", "c", "d")) {
            append(type, type);
        }
        intake.handOver(handed);
        Taken two = intake.take(Demand.of(2, Long.MAX_VALUE, Set.of()));
        assertThat(types(two)).containsExactly("a", "b");
        assertThat(two.more()).isTrue();
        // Each has two bytes: the second is too much, but one is always allowed.
        assertThat(types(intake.take(Demand.of(2, 1, Set.of())))).containsExactly("c");
        Taken last = intake.take(ALL);
        assertThat(types(last)).containsExactly("d");
        assertThat(last.more()).isFalse();
    }

    @Test
    void theOtherLoopsAreToldOfWhatWasNotLeasedAndOfNothingElse() {
        append("k", "leased");
        database.event("s", "other");
        append("other", "plain");
        intake.handOver(handed.subList(0, 1));
        intake.take(ALL);
        assertThat(passedOver).hasValue(0);
        intake.handOver(handed.subList(1, 2));
        assertThat(types(intake.take(ALL))).isEmpty();
        assertThat(passedOver).hasValue(1);
    }

    @Test
    void whatCouldNotBeReadIsReadTheNextTime() {
        append("k", "a");
        intake.handOver(handed);
        broken.set(true);
        assertThatThrownBy(() -> intake.take(ALL)).isInstanceOf(FeedException.class);
        broken.set(false);
        assertThat(types(intake.take(ALL))).containsExactly("a");
    }

    @Test
    void whatIsGivenBackIsWrittenBeforeAnythingMoreIsRead() {
        append("k", "a");
        append("k", "b");
        intake.handOver(handed.subList(0, 1));
        intake.release(intake.take(ALL).deliveries());
        intake.handOver(handed.subList(1, 2));
        broken.set(true);
        assertThatThrownBy(() -> intake.take(ALL)).isInstanceOf(FeedException.class);
        broken.set(false);
        assertThat(types(intake.take(ALL))).isEmpty();
        assertThat(database.number("SELECT count(*) FROM outbox_event WHERE status = 'PENDING'"))
                .isEqualTo(2);
        assertThat(passedOver).hasValue(1);
    }

    @Test
    void whatFailsIsGivenBackWithoutAnAttempt() {
        append("k", "a");
        intake.handOver(handed);
        List<Delivery> taken = intake.take(ALL).deliveries();
        List<Verdict> verdicts = List.of(new Verdict(taken.get(0), new Outcome.Dead("BAD", "bad")));
        broken.set(true);
        assertThatThrownBy(() -> intake.verdict(verdicts)).isInstanceOf(FeedException.class);
        broken.set(false);
        assertThat(intake.verdict(verdicts)).isEmpty();
        assertThat(database.column("SELECT status || attempt_count FROM outbox_event"))
                .containsExactly("PENDING0");
        assertThat(intake.size()).isZero();
    }

    @Test
    void whatIsNotAnsweredForLongStaysLeased() {
        append("k", "a");
        append("j", "b");
        intake.handOver(handed);
        List<Delivery> taken = intake.take(ALL).deliveries();
        database.execute("UPDATE outbox_event SET due_at = clock_timestamp() + interval '1 minute'");
        // What is left of a lease is what the database says.
        LongSummaryStatistics startBy = taken.stream()
                .mapToLong(each -> ((LeaseClaim) each.claim()).startBy())
                .summaryStatistics();
        ticker.set(startBy.getMin() - 1);
        intake.take(ALL);
        assertThat(database.number(DUE_LATER)).isEqualTo(2);
        ticker.set(startBy.getMax());
        intake.settle(taken.subList(1, 2));
        // Also where nothing more is taken.
        intake.writeReleases();
        assertThat(database.number(DUE_LATER)).as("it has five seconds again").isZero();
        assertThat(database.number("SELECT count(*) FROM outbox_event WHERE locked_by IS NOT NULL"))
                .isEqualTo(1);
    }

    @Test
    void whoTakesNothingMoreGivesBackAllThatIsNotOnItsWay() {
        append("k", "a");
        append("k", "b");
        append("j", "c");
        intake.handOver(handed.subList(0, 1));
        assertThat(types(intake.take(ALL))).containsExactly("a");
        intake.handOver(handed.subList(1, 3));
        broken.set(true);
        assertThatThrownBy(() -> intake.giveBack()).isInstanceOf(FeedException.class);
        broken.set(false);
        intake.giveBack();
        assertThat(database.column("SELECT event_type || ' ' || status FROM outbox_event ORDER BY id"))
                .containsExactly("a WAITING", "b PENDING", "c PENDING");
        assertThat(passedOver).hasValue(1);
        intake.giveBack();
        assertThat(passedOver).hasValue(1);
        assertThat(types(intake.take(ALL))).isEmpty();
    }

    @Test
    void ofAStreamWhoseDestinationDoesNotAnswerOneIsSentAndTheOthersAreGivenBack() {
        append("k", "a");
        append("j", "b");
        append("i", "c");
        intake.handOver(handed);
        assertThat(types(intake.take(Demand.of(1_000, Long.MAX_VALUE, Set.of("s")))))
                .containsExactly("a");
        assertThat(database.number("SELECT count(*) FROM outbox_event WHERE status = 'PENDING'"))
                .isEqualTo(2);
        assertThat(passedOver).hasValue(1);
    }

    @Test
    void whatStoodBehindOthersIsGivenBackAndTheNextOfItsKeyAreNotLeasedForAWhile() {
        database.event("s", "k");
        append("k", "a");
        append("j", "b");
        intake.handOver(handed);
        assertThat(types(intake.take(ALL))).containsExactly("b");
        assertThat(passedOver).hasValue(1);
        assertThat(database.column("SELECT event_type FROM outbox_event WHERE status = 'PENDING' ORDER BY id"))
                .containsExactly("T", "a");
        assertThat(intake.lessee(event("k", "c"))).isEmpty();
        assertThat(intake.lessee(event("j", "d"))).isPresent();
        ticker.set(Duration.ofSeconds(2).toNanos());
        intake.take(ALL);
        assertThat(intake.lessee(event("k", "c"))).isPresent();
    }

    @Test
    void whoeverLooksForTheNextOfAKeyIsToldWhenThoseBeforeItAreSettled() {
        append("k", "a");
        append("j", "b");
        intake.handOver(handed);
        Taken first = intake.take(ALL);
        assertThat(types(first)).containsExactly("a", "b");
        database.event("s", "k");
        append("k", "c");
        intake.handOver(handed.subList(2, 3));
        assertThat(types(intake.take(ALL))).as("behind one that is not leased").isEmpty();
        assertThat(passedOver).hasValue(1);
        intake.settled(first.deliveries().subList(1, 2));
        assertThat(passedOver).as("nobody waits for that key").hasValue(1);
        intake.settle(first.deliveries().subList(0, 1));
        assertThat(passedOver).hasValue(2);
    }

    @Test
    void ofAStreamThatIsPausedNothingIsLeasedForAWhile() {
        database.execute("INSERT INTO outbox_stream (stream, relay_group, paused_at) VALUES ('s', 'default', now())");
        append("k", "a");
        intake.handOver(handed);
        assertThat(types(intake.take(ALL))).isEmpty();
        assertThat(database.column("SELECT status FROM outbox_event")).containsExactly("PENDING");
        assertThat(intake.lessee(event("j", "b"))).isEmpty();
        assertThat(intake.lessee(OutboxEvent.of("s", "T").build())).isEmpty();
        assertThat(intake.lessee(OutboxEvent.of("other", "T").key("k").build())).isPresent();
    }

    @Test
    void withTenThousandKeysBehindOthersNothingIsLeased() {
        Detours detours = new Detours(ticker::get);
        for (int i = 0; i <= 10_000; i++) {
            assertThat(detours.isOn(event("another", "T"))).isFalse();
            detours.begin(event("key-" + i, "T"));
        }
        assertThat(detours.isOn(event("another", "T"))).isTrue();
        ticker.set(Duration.ofSeconds(2).toNanos());
        detours.end();
        assertThat(detours.isOn(event("another", "T"))).isFalse();
    }

    @Test
    void withTenThousandWaitingNothingMoreIsLeased() {
        append("k", "a");
        for (int i = 0; i < 9_999; i++) {
            intake.handOver(handed);
        }
        assertThat(intake.lessee(event("k", "a"))).isPresent();
        intake.handOver(handed);
        assertThat(intake.lessee(event("k", "a"))).isEmpty();
    }

    @Test
    void aRelayThatIsNotSureOfItsPlaceLeasesNothing() {
        assertThat(intake.lessee(event("k", "a"))).hasValue(relay.member());
        relay.ownership.renewed(-1);
        assertThat(intake.lessee(event("k", "a"))).isEmpty();
    }

    private void append(String key, String type) {
        outbox.transact(tx -> tx.append(event(key, type)));
    }

    private static OutboxEvent event(String key, String type) {
        return OutboxEvent.of("s", type).key(key).json("{}").build();
    }

    private static List<String> types(Taken taken) {
        return taken.deliveries().stream().map(each -> each.event().type()).toList();
    }
}
