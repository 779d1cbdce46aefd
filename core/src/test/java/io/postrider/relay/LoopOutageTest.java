// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class LoopOutageTest extends LoopRig {
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
    void aTrialThatCouldNotBeginIsFollowedByAnother() {
        AtomicBoolean broken = new AtomicBoolean();
        RunPublisher publisher = new RunPublisher(event -> {}) {
            @Override
            public Optional<Run> run() {
                if (broken.get()) {
                    throw new IllegalStateException("no room for another run");
                }
                return super.run();
            }
        };
        loop = loop(new Window(100, 1 << 20), publisher);
        appendAll("s", "a", "b");
        loop.turn();
        publisher.runs().forEach(run -> run.refuse(new DestinationDownException("DOWN", "no route", null)));
        loop.turn();
        broken.set(true);
        now += 200 * MS;
        assertThatThrownBy(loop::turn).hasMessage("no room for another run");
        assertThat(intake.taken()).isEmpty();
        intake.append("other", "c");
        assertThatThrownBy(loop::turn)
                .as("the others are read, though this publisher breaks them too")
                .hasMessage("no room for another run");
        assertThat(intake.taken()).isEmpty();
        broken.set(false);
        loop.turn();
        assertThat(publisher.sent).extracting(intake::idOf).containsExactly(1L, 2L, 3L);
        now += 500 * MS;
        loop.turn();
        assertThat(publisher.sent).extracting(intake::idOf).containsExactly(1L, 2L, 3L, 2L);
    }

    @Test
    void whatHasExpiredMeanwhileDoesNotDelayTheNextTrial() {
        for (int i = 0; i < 100; i++) {
            intake.append("s", "k" + i);
        }
        loop.turn();
        List.copyOf(sent()).forEach(id -> fail(id, new DestinationDownException("DOWN", "no route", null)));
        turns(2);
        intake.expiredUpTo = 99;
        now += 30_000 * MS;
        int before = sent().size();
        turns(20);
        assertThat(sent()).hasSize(before + 1).endsWith(100L);
        assertThat(intake.written).hasSize(99);
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
        assertThat(sent()).as("in the same turn").endsWith(2L, 3L);
        turnThatSettles();
        assertThat(told)
                .containsExactly("outage of s started: DOWN", "outage of s ended after PT0.2S", "published 1 in 0 ms");
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
        assertThat(intake.settled).as("at once, or it would be read again").containsExactly(1L);
        assertThat(told)
                .containsExactly(
                        "outage of s started: NO_ANSWER", "outage of s ended after PT0S", "published 1 in 61100 ms");
        assertThat(sent()).endsWith(2L);
        acknowledge(2);
        loop.turn();
        turnThatSettles();
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
}
