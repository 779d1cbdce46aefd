// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** What publishers can answer beside yes and no. */
class LoopOutcomesTest extends LoopRig {

    @Test
    void whatMayHaveHadItsEffectIsWrittenAsUnknownAndHoldsItsKey() {
        appendAll("s", "a", "a", "b");
        turns(1);
        fail(1, new UnknownOutcomeException("CUT", "reply lost", null));
        acknowledge(3);
        turns(3);
        now += Duration.ofDays(9).toNanos();
        turns(3);
        assertThat(told).containsExactlyInAnyOrder("unknown 1 after 1 failed: CUT", "published 3 in 0 ms");
        assertThat(sent()).containsExactly(1L, 3L);
    }

    @Test
    void whatIsUnknownStaysSoWhenTheGateIsClosed() {
        appendAll("s", "a", "b", "c");
        turns(1);
        fail(1, new DestinationDownException("DOWN", "no route", null));
        fail(2, new UnknownOutcomeException("CUT", "reply lost", null));
        turns(1);
        assertThat(gates.closed()).containsExactly("s");
        assertThat(told).containsExactly("outage of s started: DOWN", "unknown 2 after 1 failed: CUT");
        assertThat(intake.rows().get(1).status).isEqualTo(FakeIntake.Status.UNKNOWN);
    }

    @Test
    void aTrialWithUnknownOutcomeIsNotRepeatedAndAnotherOneIsTried() {
        appendAll("s", "a", "b");
        turns(1);
        fail(1, new DestinationDownException("DOWN", "no route", null));
        fail(2, new DestinationDownException("DOWN", "no route", null));
        turns(1);
        now += 200 * MS;
        turns(1);
        fail(1, new UnknownOutcomeException("CUT", "reply lost", null));
        turns(1);
        now += 400 * MS;
        turns(1);
        assertThat(sent()).containsExactly(1L, 2L, 1L, 2L);
        acknowledge(2);
        turns(1);
        assertThat(gates.closed()).isEmpty();
    }

    @Test
    void aDelayAskedForByOneEventSaysNothingAboutTheDestination() {
        appendAll("s", "a", "b");
        turns(1);
        fail(1, new DestinationDownException("DOWN", "no route", null));
        fail(2, new RetryableFailureException("BUSY", "later", null, Duration.ofMinutes(5)));
        turns(1);
        now += 200 * MS;
        turns(1);
        assertThat(sent()).as("the trial is not put off").hasSize(3);
    }

    @Test
    void whatThePublisherHasSettledIsForgottenWithoutAStatement() {
        Settling settling = new Settling();
        loop = loop(new Window(100, 1 << 20), settling);
        appendAll("s", "a", "a");
        turns(1);
        intake.remove(settling.given.element().id());
        int calls = intake.calls;
        settling.answerFirst(Publisher.Settled.SETTLED);
        turns(1);
        assertThat(told).containsExactly("published 1 in 0 ms");
        assertThat(intake.settled).isEmpty();
        assertThat(intake.calls - calls).as("nothing but reads").isEqualTo(readsSince(calls));
        assertThat(settling.given.element().id()).as("the next of its key goes").isEqualTo(2);
        assertThat(intake.taken()).containsExactly(2L);
    }

    @Test
    void noMoreIsHandedOverThanThePublisherCanHaveUnderWay() {
        Slots slots = new Slots(2);
        loop = limited(slots);
        appendAll("s", "a", "b", "c");
        turns(2);
        assertThat(sent()).containsExactly(1L, 2L);
        fail(2, new RetryableFailureException("BUSY", "later", null));
        turns(1);
        assertThat(sent()).containsExactly(1L, 2L, 3L);
    }

    @Test
    void aLoopThatFoundNoRoomIsWokenWhenAnotherHasSome() {
        Slots slots = new Slots(1);
        loop = limited(slots);
        assertThat(slots.take(() -> {})).isTrue();
        appendAll("s", "a");
        turns(1);
        assertThat(sent()).isEmpty();
        int before = wakes.get();
        slots.give();
        assertThat(wakes).hasValue(before + 1);
        turns(1);
        assertThat(sent()).containsExactly(1L);
    }

    @Test
    void refusalsSayNothingWhereAStreamHasNoDestinationOfItsOwn() {
        Settling handlers = new Settling();
        loop = loop(new Window(100, 1 << 20), handlers);
        for (int i = 0; i < 30; i++) {
            intake.append("s", "k" + i);
        }
        turns(1);
        while (!handlers.given.isEmpty()) {
            handlers.failFirst(new PermanentFailureException("BAD", "refused"));
        }
        turns(1);
        assertThat(gates.closed()).isEmpty();
        assertThat(told).hasSize(30).allMatch(line -> line.startsWith("dead"));
    }

    private long readsSince(int calls) {
        return intake.demands.size() - (long) calls;
    }

    private Loop limited(Slots slots) {
        Told teller = new Told("r", new RelayListener() {});
        Shared shared =
                new Shared(new Window(100, 1 << 20), judge(), gates, teller, ANSWER_TIMEOUT, slots, () -> false);
        Pace pace = new Pace("r", () -> now, HALF, Duration.ofMillis(500));
        return new Loop(intake, publisher, shared, pace, wakes::incrementAndGet);
    }

    /** Is given deliveries, and answers when it is told to. */
    private static final class Settling implements Publisher {
        final Deque<Delivery> given = new ArrayDeque<>();
        private final Deque<CompletableFuture<Object>> answers = new ArrayDeque<>();

        @Override
        public CompletionStage<?> publish(OutboxEvent event) {
            throw new AssertionError("Not asked for deliveries: " + event);
        }

        @Override
        public CompletionStage<?> deliver(Delivery delivery) {
            given.add(delivery);
            answers.add(new CompletableFuture<>());
            return List.copyOf(answers).get(answers.size() - 1);
        }

        @Override
        public Traits traits() {
            return new Traits(1_000, Duration.ZERO, false);
        }

        void answerFirst(Object answer) {
            given.remove();
            answers.remove().complete(answer);
        }

        void failFirst(Throwable failure) {
            given.remove();
            answers.remove().completeExceptionally(failure);
        }
    }
}
