// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Random events, answers, outages, pauses and times: whatever happens, order per key and no loss. */
class LoopRandomTest {
    private static final long MS = 1_000_000;

    @Test
    void whateverHappensKeysStayInOrderAndNothingIsLost() {
        for (int seed = 0; seed < 60; seed++) {
            try {
                new Run(seed).play();
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }

    private static final class Run {
        private final Random random;
        private long now = 1;
        private final FakeIntake intake = new FakeIntake(() -> now);
        private final FakeSettler settler = new FakeSettler(intake);
        private final HeldPublisher held = new HeldPublisher();
        private final Set<OutboxEvent> acknowledged = new HashSet<>();
        private final Loop loop;

        Run(int seed) {
            random = new Random(seed);
            intake.settler = seed % 3 == 0 ? null : settler;
            Window window = new Window(1 + random.nextInt(12), 1 + random.nextInt(5_000));
            Judge judge = new Judge(
                    RetryPolicy.exponential(Duration.ofMillis(50), Duration.ofSeconds(1))
                            .jitter(0.2),
                    random);
            Shared shared = new Shared(
                    window, judge, new Gates(random), new Told("r", new RelayListener() {}), Duration.ofSeconds(5));
            loop = new Loop(
                    intake, this::publish, shared, new Pace("r", () -> now, random, Duration.ofMillis(500)), () -> {});
        }

        private CompletionStage<?> publish(OutboxEvent event) {
            long row = intake.idOf(event);
            assertThat(intake.taken()).as("only what is taken is sent").contains(row);
            if (event.key().isPresent()) {
                intake.rows().stream()
                        .filter(older -> older.id < row)
                        .filter(older -> older.event.stream().equals(event.stream()))
                        .filter(older -> older.event.key().equals(event.key()))
                        .forEach(older -> assertThat(acknowledged)
                                .as("row %s is sent while the older row %s has not arrived", row, older.id)
                                .contains(older.event));
            }
            return held.publish(event);
        }

        void play() {
            for (int step = 0; step < 300; step++) {
                act();
                loop.turn();
            }
            intake.failing = false;
            settler.refusing = false;
            loop.taking(true);
            for (int step = 0; step < 3_000 && !(loop.isIdle() && intake.nothingLeft()); step++) {
                settler.settleNext();
                held.unanswered().forEach(this::acknowledge);
                now += Math.max(MS, loop.turn());
            }
            assertThat(loop.isIdle()).isTrue();
            assertThat(intake.nothingLeft())
                    .as("left: %s", intake.rows().size())
                    .isTrue();
            assertThat(intake.taken()).isEmpty();
        }

        private void act() {
            switch (random.nextInt(16)) {
                case 0, 1, 2, 3 -> append();
                case 4, 5, 6 -> any().forEach(this::acknowledge);
                case 7 -> any().forEach(event -> held.fail(event, new IllegalStateException("no")));
                case 8 -> any().forEach(event -> held.fail(event, new DestinationDownException("DOWN", "no", null)));
                case 9 -> {
                    if (random.nextInt(4) == 0) {
                        any().forEach(event -> held.fail(event, new PermanentFailureException("NO", "no")));
                    }
                }
                case 10 -> now += random.nextInt(3_000) * MS;
                case 11 -> intake.failing = random.nextInt(3) == 0;
                case 12 -> loop.taking(random.nextInt(3) > 0);
                case 13 -> settler.settleNext();
                case 14 -> {
                    settler.refusing = random.nextBoolean();
                    if (random.nextInt(3) == 0) {
                        settler.failNext(random.nextBoolean());
                    }
                }
                default -> now += random.nextInt(50) * MS;
            }
        }

        private void append() {
            for (int i = random.nextInt(6); i > 0; i--) {
                String key = random.nextInt(5) == 0 ? "" : "k" + random.nextInt(4);
                intake.append(Deliveries.event("s" + random.nextInt(3), key)
                        .payload(new byte[random.nextInt(800)])
                        .build());
            }
            loop.ring();
        }

        private List<OutboxEvent> any() {
            List<OutboxEvent> unanswered = held.unanswered();
            return unanswered.isEmpty() ? List.of() : List.of(unanswered.get(random.nextInt(unanswered.size())));
        }

        private void acknowledge(OutboxEvent event) {
            held.acknowledge(event);
            acknowledged.add(event);
        }
    }
}
