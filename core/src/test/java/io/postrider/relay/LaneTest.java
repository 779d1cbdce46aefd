// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LaneTest {
    private static final Failure NO = Failure.of(new IllegalStateException("no"));

    private final Lanes lanes = new Lanes(3);
    private final Delivery first = entered(1);
    private final Delivery second = entered(2);
    private final Delivery third = entered(3);
    private final Delivery fourth = entered(4);

    @Test
    void asManyAsAllowedGoInTheirOrder() {
        assertThat(allThatGo()).containsExactly(first, second, third);
        assertThat(lanes.advance(second)).isNull();
        assertThat(allThatGo()).containsExactly(fourth);
    }

    @Test
    void nothingFollowsAFailureAndItIsOverWhenTheLastUnderWayIsAnswered() {
        allThatGo();
        assertThat(lanes.fail(first, NO)).isNull();
        assertThat(allThatGo()).isEmpty();
        assertThat(lanes.advance(third)).isNull();
        Lane.Ended ended = lanes.advance(second);
        assertThat(ended).isNotNull();
        assertThat(ended.failed()).containsOnlyKeys(first);
        assertThat(ended.unsent()).containsExactly(fourth);
        assertThat(lanes.isEmpty()).isTrue();
    }

    @Test
    void whatEntersAFailedLaneIsGivenBackWithIt() {
        allThatGo();
        lanes.fail(second, NO);
        Delivery late = entered(5);
        assertThat(allThatGo()).isEmpty();
        lanes.advance(first);
        Lane.Ended ended = lanes.fail(third, NO);
        assertThat(ended).isNotNull();
        assertThat(ended.failed().keySet()).containsExactly(second, third);
        assertThat(ended.unsent()).containsExactly(fourth, late);
    }

    @Test
    void nothingFollowsWhatWasRefusedOnTheSpot() {
        assertThat(lanes.next(0)).isSameAs(first);
        lanes.refused(first);
        assertThat(allThatGo()).isEmpty();
        assertThat(lanes.fail(first, NO)).isNotNull();
    }

    @Test
    void aLargeEventGoesAlone() {
        Lanes wide = new Lanes(3);
        List<Delivery> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int size = i == 1 ? 100_000 : 10;
            OutboxEvent event =
                    OutboxEvent.of("s", "T").key("k").payload(new byte[size]).build();
            all.add(new Delivery(i, 0, 0, event, Deliveries.ALWAYS));
            wide.enter(all.get(i));
        }
        assertThat(wide.next(0)).isSameAs(all.get(0));
        assertThat(wide.next(0)).isNull();
        wide.advance(all.get(0));
        assertThat(wide.next(0)).isSameAs(all.get(1));
        assertThat(wide.next(0)).isNull();
        wide.advance(all.get(1));
        assertThat(wide.next(0)).isSameAs(all.get(2));
    }

    @Test
    void whateverIsAnsweredInWhateverOrderNoKeyIsOvertakenAndNothingIsForgotten() {
        for (int seed = 0; seed < 300; seed++) {
            Random random = new Random(seed);
            Lanes some = new Lanes(1 + random.nextInt(5));
            Map<String, Long> lastSent = new HashMap<>();
            Set<String> failing = new HashSet<>();
            List<Delivery> underWay = new ArrayList<>();
            int open = 0;
            for (long id = 1; id <= 200; id++) {
                if (random.nextInt(3) > 0) {
                    some.enter(Deliveries.of(id, "s", "k" + random.nextInt(4)));
                    open++;
                }
                for (Delivery next; (next = some.next(0)) != null; underWay.add(next)) {
                    String key = next.event().key().orElseThrow();
                    assertThat(failing).as("seed %s", seed).doesNotContain(key);
                    Long before = lastSent.put(key, next.id());
                    assertThat(before == null || before < next.id())
                            .as("seed %s", seed)
                            .isTrue();
                }
                if (!underWay.isEmpty()) {
                    Delivery answered = underWay.remove(random.nextInt(underWay.size()));
                    String key = answered.event().key().orElseThrow();
                    boolean fails = random.nextInt(4) == 0;
                    Lane.Ended ended = fails ? some.fail(answered, NO) : some.advance(answered);
                    if (fails) {
                        failing.add(key);
                    } else {
                        some.left(answered);
                        open--;
                    }
                    if (ended != null) {
                        assertThat(underWay)
                                .as("seed %s", seed)
                                .noneMatch(d -> d.event().key().orElseThrow().equals(key));
                        failing.remove(key);
                        ended.failed().keySet().forEach(some::left);
                        ended.unsent().forEach(some::left);
                        open -= ended.failed().size() + ended.unsent().size();
                    }
                }
            }
            assertThat(some.rows()).as("seed %s", seed).isEqualTo(open);
        }
    }

    private Delivery entered(long id) {
        Delivery delivery = Deliveries.of(id, "s", "k");
        lanes.enter(delivery);
        return delivery;
    }

    private List<Delivery> allThatGo() {
        List<Delivery> gone = new ArrayList<>();
        for (Delivery next; (next = lanes.next(0)) != null; gone.add(next)) {}
        return gone;
    }
}
