// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class LanesTest {
    private static final Failure NO = Failure.of(new IllegalStateException("no"));

    private final Lanes lanes = new Lanes(event -> new CompletableFuture<>(), true);
    private final Map<Delivery, Departure> departures = new HashMap<>();

    @Test
    void oneEventOfAKeyIsUnderWayAtATimeAndTheyGoInOrder() {
        Delivery first = enter(1, "s", "k");
        Delivery second = enter(2, "s", "k");
        Delivery third = enter(3, "s", "k");

        assertThat(go(10)).isSameAs(first);
        assertThat(lanes.next(10)).isNull();
        lanes.advance(gone(first));
        assertThat(go(20)).isSameAs(second);
        assertThat(lanes.next(20)).isNull();
        lanes.advance(gone(second));
        assertThat(go(30)).isSameAs(third);
        lanes.advance(gone(third));
        assertThat(lanes.isEmpty()).isTrue();
    }

    @Test
    void differentKeysAndTheSameKeyInAnotherStreamDoNotWaitForEachOther() {
        Delivery a = enter(1, "s", "a");
        Delivery b = enter(2, "s", "b");
        Delivery other = enter(3, "t", "a");
        assertThat(allNext()).containsExactly(a, b, other);
    }

    @Test
    void eventsWithoutAKeyNeverWaitForEachOther() {
        List<Delivery> entered = new ArrayList<>();
        for (int i = 1; i <= 50; i++) {
            entered.add(enter(i, "s", ""));
        }
        assertThat(allNext()).containsExactlyElementsOf(entered);
    }

    @Test
    void aDepartureTellsSinceWhenAndWhetherItIsUnderWay() {
        Delivery first = enter(1, "s", "k");
        go(77);
        assertThat(gone(first).at()).isEqualTo(77);
        assertThat(gone(first).isUnderWay()).isTrue();
        lanes.advance(gone(first));
        assertThat(gone(first).isUnderWay()).isFalse();
    }

    @Test
    void aFailureTakesAllBehindItOut() {
        Delivery first = enter(1, "s", "k");
        Delivery second = enter(2, "s", "k");
        Delivery other = enter(3, "s", "other");
        go(0);

        Lane.Ended ended = lanes.fail(gone(first), NO);
        assertThat(ended).isEqualTo(new Lane.Ended(List.of(new Lane.Failed(first, NO)), List.of(second)));
        assertThat(gone(first).isUnderWay()).isFalse();
        assertThat(lanes.rows()).as("they count until they have left").isEqualTo(3);
        assertThat(allNext()).containsExactly(other);

        Delivery again = enter(4, "s", "k");
        assertThat(allNext()).as("the key starts anew").containsExactly(again);
    }

    @Test
    void unsentTakesOutWhatIsNotUnderWay() {
        Delivery sent = enter(1, "s", "k");
        go(0);
        Delivery behind = enter(2, "s", "k");
        Delivery ready = enter(3, "s", "l");
        Delivery otherStream = enter(4, "t", "k");

        assertThat(lanes.unsent("s")).containsExactlyInAnyOrder(behind, ready);
        assertThat(gone(sent).isUnderWay()).isTrue();
        assertThat(lanes.rows()).isEqualTo(4);
        assertThat(allNext()).containsExactly(otherStream);
        assertThat(lanes.unsent(null)).isEmpty();
        lanes.advance(gone(sent));
        assertThat(lanes.next(0)).isNull();
    }

    @Test
    void aKeyThatWasTakenOutWhileReadyIsSentOnceWhenItComesBack() {
        enter(1, "s", "k");
        lanes.unsent(null);
        Delivery again = enter(2, "s", "k");
        assertThat(allNext()).containsExactly(again);
    }

    @Test
    void thoseUnderWayTooLongAreFound() {
        Delivery early = enter(1, "s", "a");
        enter(2, "s", "a");
        go(100);
        Delivery late = enter(3, "s", "b");
        go(200);
        enter(4, "s", "c");

        assertThat(lanes.underWaySinceBefore(100)).isEmpty();
        assertThat(lanes.underWaySinceBefore(101)).containsExactly(gone(early));
        assertThat(lanes.underWaySinceBefore(201)).containsExactlyInAnyOrder(gone(early), gone(late));
    }

    @Test
    void aLateAnswerCountsAgainUntilItIsWritten() {
        Delivery delivery = enter(1, "s", "k");
        go(0);
        lanes.fail(gone(delivery), NO);
        lanes.left(delivery);
        assertThat(lanes.rows()).isZero();
        assertThat(lanes.bytes()).isZero();
        lanes.countAgain(delivery);
        assertThat(lanes.rows()).isEqualTo(1);
        assertThat(lanes.bytes()).isEqualTo(delivery.weight());
        lanes.left(delivery);
        assertThat(lanes.rows()).isZero();
    }

    @Test
    void whatWasAnsweredCannotAdvanceAgain() {
        Delivery delivery = enter(1, "s", "k");
        go(0);
        lanes.advance(gone(delivery));
        assertThatThrownBy(() -> lanes.advance(gone(delivery)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("Not under way: ");
    }

    @Test
    void fullnessIsCountedPerStreamInRowsAndInBytes() {
        enter(1, "many", "a");
        enter(2, "many", "b");
        Delivery large = Deliveries.of(
                3, 0, Deliveries.event("large", "k").payload(new byte[10_000]).build());
        lanes.enter(large);
        assertThat(lanes.fullerThan(2, Long.MAX_VALUE)).isEmpty();
        assertThat(lanes.fullerThan(1, Long.MAX_VALUE)).containsExactly("many");
        assertThat(lanes.fullerThan(9, 10_000)).containsExactly("large");
        assertThat(lanes.fullerThan(9, large.weight())).isEmpty();
    }

    @Test
    void randomWorkAgreesWithASimpleModel() {
        for (int seed = 0; seed < 30; seed++) {
            new Run(seed).steps(400);
        }
    }

    private Delivery enter(long id, String stream, String key) {
        Delivery delivery = Deliveries.of(id, stream, key);
        lanes.enter(delivery);
        return delivery;
    }

    private List<Delivery> allNext() {
        List<Delivery> all = new ArrayList<>();
        Departure next;
        while ((next = lanes.next(0)) != null) {
            departures.put(next.delivery(), next);
            all.add(next.delivery());
        }
        return all;
    }

    private Delivery go(long now) {
        Departure next = Objects.requireNonNull(lanes.next(now));
        departures.put(next.delivery(), next);
        return next.delivery();
    }

    private Departure gone(Delivery delivery) {
        return Objects.requireNonNull(departures.get(delivery));
    }

    /** Random operations on lanes and on a model of them: queues by key, and a list of all that counts. */
    private static final class Run {
        private final Random random;
        private final String seed;
        private final Lanes lanes = new Lanes(event -> new CompletableFuture<>(), true);
        private final Map<String, ArrayDeque<Delivery>> queues = new HashMap<>();
        private final Map<Delivery, Departure> underWay = new HashMap<>();
        private final List<Delivery> counted = new ArrayList<>();
        private final List<Delivery> out = new ArrayList<>();
        private final List<Delivery> gone = new ArrayList<>();
        private long now;
        private long ids;

        Run(int seed) {
            this.random = new Random(seed);
            this.seed = "seed " + seed;
        }

        void steps(int steps) {
            for (int i = 0; i < steps; i++) {
                now++;
                step();
                check();
            }
        }

        private void step() {
            switch (random.nextInt(9)) {
                case 0, 1, 2 -> enter();
                case 3, 4 -> next();
                case 5 -> any(underWay.keySet()).ifPresent(this::advance);
                case 6 -> any(underWay.keySet()).ifPresent(this::clear);
                case 7 -> any(out).ifPresent(this::left);
                default -> {
                    if (random.nextInt(5) == 0) {
                        unsent();
                    } else {
                        any(gone).ifPresent(this::countAgain);
                    }
                }
            }
        }

        private void enter() {
            String stream = "s" + random.nextInt(3);
            String key = random.nextInt(4) == 0 ? "" : "k" + random.nextInt(4);
            Delivery delivery = Deliveries.of(
                    ++ids,
                    0,
                    Deliveries.event(stream, key)
                            .payload(new byte[random.nextInt(100)])
                            .build());
            lanes.enter(delivery);
            queues.computeIfAbsent(lane(delivery), k -> new ArrayDeque<>()).add(delivery);
            counted.add(delivery);
        }

        private void next() {
            Departure departure = lanes.next(now);
            boolean someReady = queues.values().stream().anyMatch(queue -> !underWay.containsKey(queue.peek()));
            assertThat(departure != null).as(seed).isEqualTo(someReady);
            if (departure != null) {
                Delivery next = departure.delivery();
                assertThat(queue(next).peek()).as(seed).isSameAs(next);
                assertThat(underWay.put(next, departure)).as(seed).isNull();
            }
        }

        private void advance(Delivery head) {
            lanes.advance(Objects.requireNonNull(underWay.remove(head)));
            queue(head).remove();
            queues.values().removeIf(ArrayDeque::isEmpty);
            out.add(head);
        }

        private void clear(Delivery head) {
            ArrayDeque<Delivery> queue = Objects.requireNonNull(queues.remove(lane(head)));
            Departure departure = Objects.requireNonNull(underWay.remove(head));
            if (random.nextBoolean()) {
                assertThat(lanes.takeBack(departure)).as(seed).containsExactlyElementsOf(queue);
            } else {
                List<Delivery> rest = queue.stream().skip(1).toList();
                assertThat(lanes.fail(departure, NO))
                        .as(seed)
                        .isEqualTo(new Lane.Ended(List.of(new Lane.Failed(head, NO)), rest));
            }
            out.addAll(queue);
        }

        private void unsent() {
            String stream = random.nextBoolean() ? null : "s" + random.nextInt(3);
            List<Delivery> expected = new ArrayList<>();
            queues.values()
                    .forEach(queue -> queue.stream()
                            .filter(d -> !underWay.containsKey(d))
                            .filter(d -> stream == null || d.event().stream().equals(stream))
                            .forEach(expected::add));
            assertThat(lanes.unsent(stream)).as(seed).containsExactlyInAnyOrderElementsOf(expected);
            queues.values().forEach(queue -> queue.removeAll(expected));
            queues.values().removeIf(ArrayDeque::isEmpty);
            out.addAll(expected);
        }

        private void left(Delivery delivery) {
            lanes.left(delivery);
            out.remove(delivery);
            counted.remove(delivery);
            gone.add(delivery);
        }

        private void countAgain(Delivery delivery) {
            lanes.countAgain(delivery);
            gone.remove(delivery);
            counted.add(delivery);
            out.add(delivery);
        }

        private void check() {
            assertThat(lanes.rows()).as(seed).isEqualTo(counted.size());
            assertThat(lanes.bytes())
                    .as(seed)
                    .isEqualTo(counted.stream().mapToLong(Delivery::weight).sum());
            assertThat(lanes.isEmpty()).as(seed).isEqualTo(queues.isEmpty());
            assertThat(lanes.underWaySinceBefore(Long.MAX_VALUE))
                    .as(seed)
                    .containsExactlyInAnyOrderElementsOf(underWay.values());
            for (String stream : List.of("s0", "s1", "s2")) {
                int rows = of(stream).size();
                long bytes = of(stream).stream().mapToLong(Delivery::weight).sum();
                // One less is passed and the exact load is not: so the load is exact, and never negative.
                assertThat(lanes.fullerThan(rows - 1, Long.MAX_VALUE).contains(stream))
                        .as(seed)
                        .isEqualTo(rows > 0);
                assertThat(lanes.fullerThan(Integer.MAX_VALUE, bytes - 1).contains(stream))
                        .as(seed)
                        .isEqualTo(rows > 0);
                assertThat(lanes.fullerThan(rows, bytes)).as(seed).doesNotContain(stream);
            }
        }

        private List<Delivery> of(String stream) {
            return counted.stream()
                    .filter(delivery -> delivery.event().stream().equals(stream))
                    .toList();
        }

        private Optional<Delivery> any(Collection<Delivery> deliveries) {
            List<Delivery> sorted = new ArrayList<>(deliveries);
            sorted.sort(Comparator.comparingLong(Delivery::id));
            return sorted.isEmpty() ? Optional.empty() : Optional.of(sorted.get(random.nextInt(sorted.size())));
        }

        private ArrayDeque<Delivery> queue(Delivery delivery) {
            return queues.getOrDefault(lane(delivery), new ArrayDeque<>());
        }

        private static String lane(Delivery delivery) {
            var event = delivery.event();
            return event.stream() + "/" + event.key().orElse("#" + delivery.id());
        }
    }
}
