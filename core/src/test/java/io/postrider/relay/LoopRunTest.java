// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** With a publisher that can have several events of a key under way. */
class LoopRunTest extends LoopRig {
    private final RunPublisher runs = new RunPublisher(event -> {});

    @Test
    void eventsOfOneKeyGoWithoutWaitingForAnswers() {
        loop = loop(new Window(100, 1 << 20), runs);
        appendAll("s", "k", "k", "l", "k");
        loop.turn();
        assertThat(runs.sent.stream().map(intake::idOf)).containsExactlyInAnyOrder(1L, 2L, 3L, 4L);
        assertThat(runs.runs()).hasSize(2);
    }

    @Test
    void theRefusedOneIsJudgedWhenAllBehindItIsAnsweredAndThoseGoAgainAfterIt() {
        loop = loop(new Window(100, 1 << 20), runs);
        appendAll("s", "k", "k", "k");
        loop.turn();
        runs.runs().get(0).refuse(new IllegalStateException("no"));
        turns(2);
        assertThat(told).as("two are not answered yet").isEmpty();
        assertThat(intake.taken()).hasSize(3);

        runs.answerCalledBack();
        turns(2);
        assertThat(told).containsExactly("retrying 1 after 1 failed in PT1S: IllegalStateException");
        assertThat(intake.taken()).as("the others wait in the table").isEmpty();

        now += 1_100 * MS;
        runs.sent.clear();
        turns(3);
        runs.runs().get(0).deliver();
        turns(1);
        now += 600 * MS;
        turns(2);
        assertThat(runs.sent.stream().map(intake::idOf)).containsExactly(1L, 2L, 3L);
    }

    @Test
    void whatIsCalledBackCostsNoAttemptAndClosesNoGate() {
        loop = loop(new Window(100, 1 << 20), runs);
        appendAll("s", "k", "other");
        loop.turn();
        runs.runs().forEach(run -> run.refuse(new NotSentException("BEHIND", "no")));
        turns(2);
        assertThat(told).isEmpty();
        assertThat(gates.closed()).isEmpty();
        now += 600 * MS;
        turns(2);
        runs.runs().forEach(RunPublisher.Going::deliver);
        loop.turn();
        turnThatSettles();
        assertThat(intake.rows()).isEmpty();
    }

    /**
     * Whatever is delivered, refused, called back, silent or late: an event is delivered for the first time only when all
     * older ones of its key have been.
     */
    @Test
    void whateverHappensFirstDeliveriesAreInOrderAndNothingIsLost() {
        for (int seed = 0; seed < 200; seed++) {
            try {
                new Play(seed).play();
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }

    private static final class Play {
        private final Random random;
        private long now = 1;
        private final FakeIntake intake = new FakeIntake(() -> now);
        private final RunPublisher publisher = new RunPublisher(this::delivered);
        private final Set<OutboxEvent> delivered = new HashSet<>();
        private final Loop loop;

        Play(int seed) {
            random = new Random(seed);
            Judge judge = new Judge(RetryPolicy.exponential(Duration.ofMillis(50), Duration.ofSeconds(1)), random);
            loop = new Loop(
                    intake,
                    publisher,
                    new Shared(
                            new Window(1 + random.nextInt(40), 1 << 20),
                            judge,
                            new Gates(random),
                            new Told("r", new RelayListener() {}),
                            Duration.ofSeconds(5)),
                    new Pace("r", () -> now, random, Duration.ofMillis(500)),
                    () -> {});
        }

        private void delivered(OutboxEvent event) {
            long row = intake.idOf(event);
            if (event.key().isPresent() && !delivered.contains(event)) {
                intake.rows().stream()
                        .filter(older -> older.id < row)
                        .filter(older -> older.event.stream().equals(event.stream()))
                        .filter(older -> older.event.key().equals(event.key()))
                        .forEach(older -> assertThat(delivered)
                                .as("row %s arrives before the older row %s", row, older.id)
                                .contains(older.event));
            }
            delivered.add(event);
        }

        void play() {
            for (int step = 0; step < 400; step++) {
                act();
                loop.turn();
            }
            intake.failing = false;
            loop.taking(true);
            for (int step = 0; step < 3_000 && !(loop.isIdle() && intake.nothingLeft()); step++) {
                publisher.answerCalledBack();
                publisher.runs().forEach(RunPublisher.Going::deliver);
                now += Math.max(MS, loop.turn());
            }
            assertThat(intake.nothingLeft())
                    .as("left: %s", intake.rows().size())
                    .isTrue();
            assertThat(loop.isIdle()).isTrue();
            assertThat(intake.taken()).isEmpty();
        }

        private void act() {
            switch (random.nextInt(14)) {
                case 0, 1, 2, 3 -> append();
                case 4, 5, 6, 7 -> any().forEach(RunPublisher.Going::deliver);
                case 8 -> any().forEach(run -> run.refuse(failure()));
                case 9 -> publisher.answerCalledBack();
                case 10 -> now += random.nextInt(3_000) * MS;
                case 11 -> intake.failing = random.nextInt(3) == 0;
                case 12 -> loop.taking(random.nextInt(3) > 0);
                default -> now += random.nextInt(50) * MS;
            }
        }

        private RuntimeException failure() {
            return switch (random.nextInt(8)) {
                case 0 -> new PermanentFailureException("NO", "no");
                case 1, 2 -> new DestinationDownException("DOWN", "no", null);
                case 3, 4 -> new NotSentException("BEHIND", "no");
                default -> new IllegalStateException("no");
            };
        }

        private void append() {
            for (int i = random.nextInt(8); i > 0; i--) {
                String key = random.nextInt(8) == 0 ? "" : "k" + random.nextInt(3);
                intake.append(Deliveries.event("s" + random.nextInt(2), key).build());
            }
            loop.ring();
        }

        private List<RunPublisher.Going> any() {
            List<RunPublisher.Going> all = publisher.runs();
            return all.isEmpty() ? List.of() : List.of(all.get(random.nextInt(all.size())));
        }
    }
}
