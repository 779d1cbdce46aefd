// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class LoopTest {
    private static final long MS = 1_000_000;
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(60);
    /** Lets jitter change nothing. */
    private static final RandomGenerator HALF = () -> 1L << 63;

    private long now = 5_000 * MS;
    private final FakeIntake intake = new FakeIntake(() -> now);
    private final HeldPublisher publisher = new HeldPublisher();
    private final List<String> told = new ArrayList<>();
    private final Gates gates = new Gates(HALF);
    private final AtomicInteger wakes = new AtomicInteger();
    private Loop loop = loop(new Window(100, 1 << 20));

    @Test
    void eventsOfOneKeyAreSentOneAfterTheOtherAndOthersBesideThem() {
        appendAll("s", "a", "a", "b", "a");
        loop.turn();
        assertThat(sent()).containsExactly(1L, 3L);
        acknowledge(1);
        loop.turn();
        assertThat(sent()).containsExactly(1L, 3L, 2L);
        acknowledge(3);
        acknowledge(2);
        loop.turn();
        assertThat(sent()).containsExactly(1L, 3L, 2L, 4L);
        acknowledge(4);
        loop.turn();
        assertThat(intake.settled).containsExactly(1L, 3L, 2L, 4L);
        assertThat(intake.rows()).isEmpty();
        assertThat(loop.isIdle()).isTrue();
        assertThat(loop.inFlight()).isZero();
    }

    @Test
    void eventsWithoutAKeyAllGoAtOnce() {
        appendAll("s", "", "", "");
        loop.turn();
        assertThat(sent()).containsExactly(1L, 2L, 3L);
    }

    @Test
    void aPublishedEventIsToldAfterItIsSettled() {
        appendAll("s", "a");
        loop.turn();
        now += 30 * MS;
        acknowledge(1);
        intake.failing = true;
        loop.turn();
        assertThat(told).isEmpty();
        intake.failing = false;
        now += 50 * MS;
        loop.turn();
        assertThat(told).containsExactly("published 1 in 30 ms");
    }

    @Test
    void aFailureDropsWhatStandsBehindItAndHoldsItsKeyUntilItIsDelivered() {
        appendAll("s", "a", "a", "b");
        loop.turn();
        fail(1, new IllegalStateException("no"));
        loop.turn();
        assertThat(intake.written)
                .extracting(Verdict::outcome)
                .containsExactly(
                        new Outcome.Retry(Duration.ofSeconds(1), "IllegalStateException", "IllegalStateException: no"));
        assertThat(intake.taken()).as("2 was given back").containsExactly(3L);
        assertThat(told).containsExactly("retrying 1 after 1 failed in PT1S: IllegalStateException");
        acknowledge(3);
        now += 999 * MS;
        loop.turn();
        assertThat(sent()).containsExactly(1L, 3L);

        now += 1 * MS;
        loop.turn();
        assertThat(sent()).containsExactly(1L, 3L, 1L);
        acknowledge(1);
        loop.turn();
        now += 10 * MS;
        loop.turn();
        assertThat(sent()).containsExactly(1L, 3L, 1L, 2L);
    }

    @Test
    void theLastAttemptMakesAnEventDead() {
        intake.append(Deliveries.event("s", "a").maxAttempts(2).build());
        loop.turn();
        fail(1, new IllegalStateException("no"));
        loop.turn();
        now += 1_000 * MS;
        loop.turn();
        fail(1, new IllegalStateException("again"));
        loop.turn();
        assertThat(intake.rows().get(0).status).isEqualTo(FakeIntake.Status.DEAD);
        assertThat(told)
                .containsExactly(
                        "retrying 1 after 1 failed in PT1S: IllegalStateException",
                        "dead 1 after 2 failed: IllegalStateException");
    }

    @Test
    void aPermanentFailureIsDeadAtOnce() {
        appendAll("s", "a");
        loop.turn();
        fail(1, new PermanentFailureException("TOO_LARGE", "2 MB"));
        loop.turn();
        assertThat(told).containsExactly("dead 1 after 1 failed: TOO_LARGE");
    }

    @Test
    void tenDifferentRefusalsInARowCloseTheGateInsteadOfKillingMore() {
        for (int i = 0; i < 12; i++) {
            intake.append("s", "k" + i);
        }
        loop.turn();
        for (long id = 1; id <= 12; id++) {
            fail(id, new PermanentFailureException("NO", "refused"));
        }
        loop.turn();
        assertThat(intake.written).hasSize(9);
        assertThat(gates.closed()).containsExactly("s");
        assertThat(told).hasSize(10).contains("outage of s started: NO");
        assertThat(intake.taken()).isEmpty();
    }

    @Test
    void anOutageReleasesEverythingWithoutAVerdictAndClosesTheGate() {
        appendAll("s", "a", "a", "b", "c");
        loop.turn();
        fail(1, new DestinationDownException("DOWN", "no route", null));
        fail(3, new DestinationDownException("DOWN", "no route", null));
        loop.turn();
        assertThat(intake.written).isEmpty();
        assertThat(intake.rows()).allMatch(row -> row.attempts == 0 && row.revision == 0);
        assertThat(gates.closed()).containsExactly("s");
        assertThat(told).containsExactly("outage of s started: DOWN");
        assertThat(intake.taken()).as("4 is still under way").containsExactly(4L);
    }

    @Test
    void duringAnOutageOneEventIsTriedAtATimeAndOtherStreamsFlow() {
        appendAll("s", "a", "b");
        loop.turn();
        fail(1, new DestinationDownException("DOWN", "no route", null));
        fail(2, new DestinationDownException("DOWN", "no route", null));
        loop.turn();
        long other = intake.append("t", "a");
        loop.ring();
        loop.turn();
        assertThat(sent()).containsExactly(1L, 2L, other);

        now += 199 * MS;
        loop.turn();
        assertThat(sent()).hasSize(3);
        now += 1 * MS;
        loop.turn();
        assertThat(sent()).as("a trial").endsWith(1L).hasSize(4);
        now += 20_000 * MS;
        loop.turn();
        assertThat(sent()).as("no second one before it has answered").hasSize(4);

        fail(1, new DestinationDownException("DOWN", "still", null));
        loop.turn();
        now += 399 * MS;
        loop.turn();
        assertThat(sent()).hasSize(4);
        now += 1 * MS;
        loop.turn();
        assertThat(sent()).as("now another key").endsWith(2L).hasSize(5);
        assertThat(told).containsExactly("outage of s started: DOWN");
    }

    @Test
    void theFirstSuccessOpensTheGateAndEverythingFlowsAtOnce() {
        appendAll("s", "a", "b", "a");
        loop.turn();
        fail(1, new DestinationDownException("DOWN", "no route", null));
        fail(2, new DestinationDownException("DOWN", "no route", null));
        loop.turn();
        now += 200 * MS;
        loop.turn();
        acknowledge(1);
        loop.turn();
        assertThat(told)
                .containsExactly("outage of s started: DOWN", "outage of s ended after PT0.2S", "published 1 in 0 ms");
        assertThat(sent()).as("in the same turn").endsWith(2L, 3L);
        assertThat(gates.closed()).isEmpty();
    }

    @Test
    void aTrialDoesNotWaitBehindAnEventThatHasNotBeenAnswered() {
        appendAll("s", "a", "a", "b");
        loop.turn();
        assertThat(sent()).containsExactly(1L, 3L);
        fail(3, new DestinationDownException("DOWN", "no route", null));
        loop.turn();
        now += 200 * MS;
        loop.turn();
        assertThat(sent()).as("2 would wait behind 1").containsExactly(1L, 3L, 3L);
        assertThat(intake.taken()).containsExactly(1L, 3L);
    }

    @Test
    void ifAllWouldWaitTheTrialComesLater() {
        appendAll("s", "a", "a", "b");
        loop.turn();
        fail(3, new DestinationDownException("DOWN", "no route", null));
        loop.turn();
        now += 200 * MS;
        loop.turn();
        fail(3, new PermanentFailureException("NO", "refused"));
        loop.turn();
        intake.settle(List.of(Deliveries.of(3, "s", "b")));
        now += 400 * MS;
        loop.turn();
        assertThat(intake.taken()).containsExactly(1L);
        acknowledge(1);
        loop.turn();
        assertThat(sent()).endsWith(2L);
    }

    @Test
    void anEventsOwnFailureDuringAnOutageIsNotCounted() {
        appendAll("s", "a", "b");
        loop.turn();
        fail(1, new DestinationDownException("DOWN", "no route", null));
        fail(2, new IllegalStateException("reset"));
        loop.turn();
        assertThat(intake.written).isEmpty();
        assertThat(intake.taken()).isEmpty();
    }

    @Test
    void whatIsNotAnsweredInTimeIsReleasedAndItsDestinationTakenToBeDown() {
        appendAll("s", "a", "a");
        loop.turn();
        now += ANSWER_TIMEOUT.toNanos();
        loop.turn();
        assertThat(intake.taken()).containsExactly(1L, 2L);
        now += 1_100 * MS;
        loop.turn();
        assertThat(told).containsExactly("outage of s started: NO_ANSWER");
        assertThat(intake.taken()).isEmpty();
        assertThat(intake.written).isEmpty();
    }

    @Test
    void anAnswerThatComesTooLateStillSettles() {
        appendAll("s", "a", "a");
        loop.turn();
        now += ANSWER_TIMEOUT.toNanos() + 1_100 * MS;
        loop.turn();
        acknowledge(1);
        loop.turn();
        assertThat(intake.settled).containsExactly(1L);
        assertThat(told)
                .containsExactly(
                        "outage of s started: NO_ANSWER", "outage of s ended after PT0S", "published 1 in 0 ms");
        assertThat(sent()).endsWith(2L);
        acknowledge(2);
        loop.turn();
        assertThat(loop.isIdle()).isTrue();
    }

    @Test
    void aFailureThatComesTooLateChangesNothing() {
        appendAll("s", "a");
        loop.turn();
        now += ANSWER_TIMEOUT.toNanos() + 1_100 * MS;
        loop.turn();
        fail(1, new PermanentFailureException("NO", "refused"));
        loop.turn();
        assertThat(intake.written).isEmpty();
        assertThat(told).containsExactly("outage of s started: NO_ANSWER");
    }

    @Test
    void resultsAreKeptWhileTheFeedIsDownAndWrittenWhenItIsBack() {
        appendAll("s", "a", "b", "a");
        loop.turn();
        intake.failing = true;
        acknowledge(1);
        fail(2, new IllegalStateException("no"));
        int before = intake.calls;
        loop.turn();
        assertThat(intake.calls).isEqualTo(before + 1);
        assertThat(sent()).as("sends go on").endsWith(3L);
        assertThat(loop.isIdle()).isFalse();

        now += 37 * MS;
        long wait = loop.turn();
        assertThat(intake.calls).as("left alone for 37.5 ms").isEqualTo(before + 1);
        assertThat(wait).isEqualTo(MS / 2);
        now += wait;
        loop.turn();
        assertThat(intake.calls).isEqualTo(before + 2);
        assertThat(loop.turn()).as("then for 75 ms").isEqualTo(75 * MS);

        intake.failing = false;
        now += 75 * MS;
        acknowledge(3);
        loop.turn();
        assertThat(intake.settled).containsExactly(1L, 3L);
        assertThat(intake.written).extracting(v -> v.delivery().id()).containsExactly(2L);
        assertThat(loop.isIdle()).isTrue();
    }

    @Test
    void aReadThatWasRungForAndFailedIsTakenUpAgainAndItsOutageIsOne() {
        for (int i = 0; i < 10; i++) {
            now += loop.turn();
        }
        assertThat(loop.turn()).as("by itself it would look much later").isEqualTo(500 * MS);
        appendAll("s", "a");
        intake.failing = true;
        loop.ring();
        List<Long> pauses = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int before = intake.calls;
            long wait = loop.turn();
            assertThat(intake.calls).as("it asks again each time").isEqualTo(before + 1);
            pauses.add(wait / 100_000);
            now += wait;
        }
        assertThat(pauses)
                .as("in tenths of a millisecond, each twice the last")
                .containsExactly(375L, 750L, 1500L, 3000L);
        intake.failing = false;
        loop.turn();
        assertThat(sent()).containsExactly(1L);
    }

    @Test
    void whoStopsTakingFinishesWhatIsUnderWayAndGivesTheRestBack() {
        appendAll("s", "a", "a", "b");
        loop.turn();
        loop.taking(false);
        assertThat(wakes).hasValue(1);
        loop.turn();
        assertThat(intake.taken()).containsExactly(1L, 3L);
        acknowledge(1);
        loop.turn();
        assertThat(sent()).containsExactly(1L, 3L);
        assertThat(intake.settled).containsExactly(1L);
        assertThat(loop.isIdle()).isFalse();
        fail(3, new IllegalStateException("no"));
        loop.turn();
        assertThat(intake.written).hasSize(1);
        assertThat(loop.isIdle()).isTrue();
        int before = intake.demands.size();
        loop.ring();
        now += 60_000 * MS;
        loop.turn();
        assertThat(intake.demands).hasSize(before);

        loop.taking(true);
        loop.turn();
        assertThat(sent()).contains(2L);
    }

    @Test
    void oneStreamNeverHasMoreThanItsWindowAndASlowOneDoesNotStopAnother() {
        loop = loop(new Window(10, 1 << 20));
        for (int i = 0; i < 100; i++) {
            intake.append("slow", "k" + i);
        }
        turns(20);
        assertThat(intake.taken()).hasSize(8);
        for (int i = 0; i < 30; i++) {
            long id = intake.append("fast", "k" + i);
            loop.ring();
            now += 10 * MS;
            turns(2);
            assertThat(sent()).endsWith(id);
            acknowledge(id);
        }
        now += 5 * MS;
        turns(2);
        assertThat(intake.settled).hasSize(30);
        assertThat(intake.taken()).hasSize(8);
    }

    @Test
    void aFullStreamIsReadOnAsSoonAsThereIsRoom() {
        loop = loop(new Window(10, 1 << 20));
        for (int i = 0; i < 100; i++) {
            intake.append("s", "k" + i);
        }
        turns(20);
        for (long id = 1; id <= 5; id++) {
            acknowledge(id);
        }
        loop.turn();
        assertThat(intake.taken()).as("three of eight are too many to read on").hasSize(3);
        acknowledge(6);
        acknowledge(7);
        loop.turn();
        assertThat(intake.taken()).hasSize(9);
        assertThat(sent()).hasSize(16);
    }

    @Test
    void allStreamsTogetherHaveFourTimesTheWindow() {
        loop = loop(new Window(10, 1 << 20));
        for (int i = 0; i < 300; i++) {
            intake.append("s" + i % 10, "k" + i);
        }
        turns(50);
        assertThat(intake.taken()).hasSizeBetween(24, 40);
    }

    @Test
    void bytesAreLimitedToo() {
        loop = loop(new Window(1_000, 10_000));
        for (int i = 0; i < 100; i++) {
            intake.append(
                    Deliveries.event("s", "k" + i).payload(new byte[1_000]).build());
        }
        turns(20);
        assertThat(intake.taken()).hasSizeBetween(5, 12);
        int before = intake.taken().size();
        turns(20);
        assertThat(intake.taken()).hasSize(before);
    }

    @Test
    void anEventLargerThanTheWindowStillGoes() {
        loop = loop(new Window(10, 100));
        intake.append(Deliveries.event("s", "a").payload(new byte[100_000]).build());
        intake.append(Deliveries.event("s", "b").payload(new byte[100_000]).build());
        turns(5);
        assertThat(sent()).containsExactly(1L);
        acknowledge(1);
        turns(5);
        assertThat(sent()).containsExactly(1L, 2L);
    }

    @Test
    void withoutAClaimNothingIsSentAndAllIsGivenBack() {
        intake.claim = nanos -> false;
        appendAll("s", "a", "a", "b");
        loop.turn();
        assertThat(sent()).isEmpty();
        assertThat(intake.taken()).isEmpty();
        assertThat(loop.isIdle()).isTrue();
    }

    @Test
    void aTrialThatMayNotBeSentIsFollowedByAnother() {
        appendAll("s", "a");
        loop.turn();
        fail(1, new DestinationDownException("DOWN", "no route", null));
        loop.turn();
        intake.claim = nanos -> false;
        now += 200 * MS;
        loop.turn();
        assertThat(sent()).hasSize(1);
        assertThat(intake.taken()).isEmpty();
        intake.claim = Deliveries.ALWAYS;
        loop.turn();
        assertThat(sent()).containsExactly(1L, 1L);
    }

    @Test
    void lateAnswersDoNotWidenTheWindow() {
        loop = loop(new Window(10, 1 << 20));
        for (int i = 0; i < 100; i++) {
            intake.append("s", "k" + i);
        }
        turns(20);
        int first = intake.taken().size();
        now += ANSWER_TIMEOUT.toNanos() + 1_100 * MS;
        loop.turn();
        assertThat(intake.taken()).isEmpty();
        publisher.unanswered().forEach(publisher::acknowledge);
        for (int i = 0; i < 50; i++) {
            loop.turn();
            now += 50 * MS;
        }
        assertThat(intake.settled).hasSize(first);
        assertThat(intake.taken()).hasSize(first);
    }

    @Test
    void aRingWakesOnceUntilTheNextRead() {
        loop.turn();
        loop.ring();
        loop.ring();
        assertThat(wakes).hasValue(1);
        assertThat(loop.turn()).as("after an empty read").isPositive();
        loop.ring();
        assertThat(wakes).hasValue(2);
    }

    @Test
    void aRingMakesTheNextTurnRead() {
        turns(10);
        int before = intake.demands.size();
        loop.turn();
        assertThat(intake.demands).as("not due").hasSize(before);
        loop.ring();
        loop.turn();
        assertThat(intake.demands).hasSize(before + 1);
    }

    @Test
    void anAnswerWakesTheLoopAndIsWaitedForNoLonger() {
        appendAll("s", "a");
        assertThat(loop.turn()).isPositive();
        acknowledge(1);
        assertThat(wakes).hasValue(1);
        assertThat(loop.isIdle()).isFalse();
        loop.turn();
        assertThat(loop.isIdle()).isTrue();
    }

    @Test
    void aPublisherThatAnswersAtOnceKeepsTheLoopTurning() {
        Publisher quick = event -> CompletableFuture.completedFuture(null);
        loop = loop(new Window(100, 1 << 20), quick);
        appendAll("s", "a", "a", "a");
        assertThat(loop.turn()).isZero();
        assertThat(loop.turn()).isZero();
        assertThat(loop.turn()).isZero();
        loop.turn();
        assertThat(intake.settled).containsExactly(1L, 2L, 3L);
    }

    @Test
    void anEmptyReadIsKnownAsOne() {
        appendAll("s", "a");
        loop.turn();
        assertThat(loop.foundNothing()).isFalse();
        acknowledge(1);
        loop.turn();
        now += 10 * MS;
        loop.turn();
        assertThat(loop.foundNothing()).isTrue();
    }

    @Test
    void aListenerThatThrowsStopsNothing() {
        Told careless = new Told("r", new RelayListener() {
            @Override
            public void published(OutboxEvent event, Duration took) {
                throw new IllegalStateException("metrics are down");
            }
        });
        Loop.Shared shared = new Loop.Shared(new Window(10, 10), judge(), gates, careless, ANSWER_TIMEOUT);
        loop = new Loop(intake, publisher, shared, new Pace("r", () -> now, HALF, Duration.ofMillis(500)), () -> {});
        appendAll("s", "a", "b");
        turns(2);
        acknowledge(1);
        acknowledge(2);
        turns(2);
        assertThat(intake.settled).containsExactly(1L, 2L);
        assertThat(careless.publishedCount()).isEqualTo(2);
    }

    private Loop loop(Window window) {
        return loop(window, publisher);
    }

    private Loop loop(Window window, Publisher to) {
        Told teller = new Told("r", new Heard());
        Loop.Shared shared = new Loop.Shared(window, judge(), gates, teller, ANSWER_TIMEOUT);
        Pace pace = new Pace("r", () -> now, HALF, Duration.ofMillis(500));
        return new Loop(intake, to, shared, pace, wakes::incrementAndGet);
    }

    private static Judge judge() {
        return new Judge(RetryPolicy.delays(Duration.ofSeconds(1)).attempts(5), HALF);
    }

    private void appendAll(String stream, String... keys) {
        for (String key : keys) {
            intake.append(stream, key);
        }
    }

    private void turns(int turns) {
        for (int i = 0; i < turns; i++) {
            loop.turn();
        }
    }

    /** The rows of everything published, in order. */
    private List<Long> sent() {
        return publisher.sent.stream().map(this::row).toList();
    }

    private void acknowledge(long row) {
        publisher.acknowledge(underWay(row));
    }

    private void fail(long row, Throwable failure) {
        publisher.fail(underWay(row), failure);
    }

    private OutboxEvent underWay(long row) {
        return publisher.unanswered().stream()
                .filter(event -> row(event) == row)
                .findFirst()
                .orElseThrow(() -> new AssertionError("Row " + row + " is not under way"));
    }

    private long row(OutboxEvent event) {
        return intake.idOf(event);
    }

    /** Writes down what a listener is told. */
    private final class Heard implements RelayListener {
        @Override
        public void published(OutboxEvent event, Duration took) {
            told.add("published " + row(event) + " in " + took.toMillis() + " ms");
        }

        @Override
        public void retrying(OutboxEvent event, int failed, Duration delay, String code, String message) {
            told.add("retrying " + row(event) + " after " + failed + " failed in " + delay + ": " + code);
        }

        @Override
        public void dead(OutboxEvent event, int failed, String code, String message) {
            told.add("dead " + row(event) + " after " + failed + " failed: " + code);
        }

        @Override
        public void outageStarted(String stream, String code, String message) {
            told.add("outage of " + stream + " started: " + code);
        }

        @Override
        public void outageEnded(String stream, Duration lasted) {
            told.add("outage of " + stream + " ended after " + lasted);
        }
    }
}
