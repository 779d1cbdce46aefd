// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class LaneTest {
    private static final Failure NO = Failure.of(new IllegalStateException("no"));

    private final Lane lane = new Lane("k", event -> new CompletableFuture<>(), 3);
    private final Delivery first = added(1);
    private final Delivery second = added(2);
    private final Delivery third = added(3);
    private final Delivery fourth = added(4);
    private final Map<Delivery, Departure> gone = new HashMap<>();

    @Test
    void asManyAsAllowedGoInTheirOrder() {
        assertThat(allThatGo()).containsExactly(first, second, third);
        answered(second);
        assertThat(allThatGo()).containsExactly(fourth);
    }

    @Test
    void nothingFollowsAFailureAndItIsOverWhenTheLastUnderWayIsAnswered() {
        allThatGo();
        failed(first, NO);
        assertThat(allThatGo()).isEmpty();
        answered(third);
        assertThat(lane.isOver()).isFalse();
        answered(second);
        assertThat(lane.isOver()).isTrue();
        assertThat(lane.ended()).isEqualTo(new Lane.Ended(List.of(new Lane.Failed(first, NO)), List.of(fourth)));
    }

    @Test
    void theOldestFailureCountsWhicheverWasHeardFirst() {
        allThatGo();
        Failure other = Failure.of(new IllegalStateException("other"));
        failed(third, other);
        failed(second, NO);
        Delivery late = added(5);
        answered(first);
        assertThat(lane.ended())
                .isEqualTo(new Lane.Ended(List.of(new Lane.Failed(second, NO)), List.of(third, fourth, late)));
    }

    @Test
    void aLaneThatEndsWellLeavesNothing() {
        allThatGo().forEach(this::answered);
        allThatGo().forEach(this::answered);
        assertThat(lane.isOver()).isTrue();
        assertThat(lane.ended()).isNull();
    }

    @Test
    void whatMustNotBeRepeatedIsJudgedTooWhereverItStands() {
        Failure unknown = Failure.of(new UnknownOutcomeException("CUT", "reply lost", null));
        allThatGo();
        failed(third, unknown);
        failed(second, NO);
        failed(first, NO);
        assertThat(lane.ended())
                .isEqualTo(new Lane.Ended(
                        List.of(new Lane.Failed(first, NO), new Lane.Failed(third, unknown)), List.of(second, fourth)));
    }

    @Test
    void whatWasAnsweredCannotBeAnsweredAgain() {
        allThatGo();
        answered(first);
        assertThatThrownBy(() -> answered(first)).hasMessageStartingWith("Not under way: ");
    }

    private Delivery added(long id) {
        Delivery delivery = Deliveries.of(id, "s", "k");
        lane.add(delivery);
        return delivery;
    }

    private List<Delivery> allThatGo() {
        List<Delivery> all = new ArrayList<>();
        while (lane.mayGo()) {
            Departure next = lane.go(0);
            gone.put(next.delivery(), next);
            all.add(next.delivery());
        }
        return all;
    }

    private void answered(Delivery delivery) {
        lane.answered(departure(delivery));
    }

    private void failed(Delivery delivery, Failure failure) {
        lane.failed(departure(delivery), failure);
    }

    private Departure departure(Delivery delivery) {
        return Objects.requireNonNull(gone.get(delivery));
    }
}
