// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LoopTest extends LoopRig {
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
        turnThatSettles();
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
    void aRetryIsReadWhenItIsDueAndNotAtTheNextPoll() {
        Judge quick = new Judge(RetryPolicy.delays(Duration.ofMillis(100)), HALF);
        loop = loop(new Window(100, 1 << 20), publisher, quick);
        appendAll("s", "a");
        for (int i = 0; i < 12; i++) {
            now += loop.turn();
        }
        assertThat(loop.turn()).as("polls are far apart by now").isGreaterThan(400 * MS);
        fail(1, new IllegalStateException("no"));
        loop.turn();
        now += 100 * MS;
        loop.turn();
        assertThat(sent()).containsExactly(1L, 1L);
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
    void whoStandsStillBetweenTwoSendsAsksAgainWhetherItMaySend() {
        long until = now + 15 * MS;
        intake.claim = nanos -> nanos - until < 0;
        loop = loop(new Window(100, 1 << 20), event -> {
            now += 10 * MS;
            return publisher.publish(event);
        });
        appendAll("s", "a", "b", "c");
        loop.turn();
        assertThat(sent()).containsExactly(1L, 2L);
        assertThat(intake.taken()).containsExactly(1L, 2L);
    }

    @Test
    void whatCannotEnterItsLaneIsGivenBackWithAllBehindIt() {
        AtomicInteger runs = new AtomicInteger();
        RunPublisher publisher = new RunPublisher(event -> {}) {
            @Override
            public Optional<Run> run() {
                if (runs.incrementAndGet() == 2) {
                    throw new IllegalStateException("no room for another run");
                }
                return super.run();
            }
        };
        loop = loop(new Window(100, 1 << 20), publisher);
        appendAll("s", "a", "b", "c", "b");
        assertThatThrownBy(loop::turn).hasMessage("no room for another run");
        assertThat(intake.taken()).containsExactly(1L);
        loop.ring();
        loop.turn();
        assertThat(publisher.sent).extracting(intake::idOf).containsExactly(1L, 2L, 3L, 4L);
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
    void withoutAClaimNothingIsSentAndAllIsGivenBack() {
        intake.claim = nanos -> false;
        appendAll("s", "a", "a", "b");
        loop.turn();
        assertThat(sent()).isEmpty();
        assertThat(intake.taken()).isEmpty();
        assertThat(loop.isIdle()).isTrue();
    }

    @Test
    void aListenerThatThrowsStopsNothing() {
        Told careless = new Told("r", new RelayListener() {
            @Override
            public void published(OutboxEvent event, Duration took) {
                throw new IllegalStateException("metrics are down");
            }
        });
        Shared shared = new Shared(new Window(10, 10), judge(), gates, careless, ANSWER_TIMEOUT);
        loop = new Loop(intake, publisher, shared, new Pace("r", () -> now, HALF, Duration.ofMillis(500)), () -> {});
        appendAll("s", "a", "b");
        turns(2);
        acknowledge(1);
        acknowledge(2);
        turns(2);
        assertThat(intake.settled).containsExactly(1L, 2L);
        assertThat(careless.publishedCount()).isEqualTo(2);
    }
}
