// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.Taken;
import io.postrider.relay.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OrderedIntakeTest {
    private static final int HELD = 3;
    private static final int FREE = 4;

    private final Ownership ownership = new Ownership();
    private final List<Set<Integer>> reads = new ArrayList<>();
    private long now;
    private Duration readTakes = Duration.ZERO;
    private List<Delivery> found = List.of();
    private boolean isPart;
    private int depth;

    private final OrderedIntake intake =
            new OrderedIntake(new Table(), ownership, new OrderedIntake.Part(0, 1, false, null), () -> now);

    OrderedIntakeTest() {
        ownership.joined(1);
        ownership.add(Map.of(HELD, 1L, FREE, 1L));
        ownership.renewed(Long.MAX_VALUE);
    }

    @Test
    void shardsWithAHeldKeyAreReadInATwentiethOfTheTime() {
        take(Duration.ZERO);
        take(Duration.ofMillis(10));
        take(Duration.ofMillis(10));
        reads.clear();
        now += Duration.ofMillis(100).toNanos();
        take(Duration.ZERO);
        assertThat(reads).containsExactly(Set.of(FREE));
        now += Duration.ofMillis(90).toNanos();
        take(Duration.ZERO);
        assertThat(reads).containsExactly(Set.of(FREE), Set.of(HELD), Set.of(FREE));
    }

    @Test
    void theyAreReadAgainAtOnceAfterTheProcessOrTheDatabaseStoodStill() {
        take(Duration.ZERO);
        take(Duration.ofMillis(1));
        take(Duration.ofMillis(1));
        now += Duration.ofMillis(19).toNanos();
        take(Duration.ofSeconds(1));
        reads.clear();
        now += Duration.ofMillis(19).toNanos();
        take(Duration.ZERO);
        assertThat(reads).containsExactly(Set.of(HELD), Set.of(FREE));
    }

    @Test
    void howeverDearTheyAreTheyAreReadAgainAfterTenSeconds() {
        take(Duration.ZERO);
        take(Duration.ofSeconds(1));
        take(Duration.ofSeconds(1));
        reads.clear();
        // The other shards were read meanwhile.
        now += Duration.ofSeconds(9).minusNanos(1).toNanos();
        take(Duration.ZERO);
        assertThat(reads).containsExactly(Set.of(FREE));
        now += 1;
        take(Duration.ZERO);
        assertThat(reads).containsExactly(Set.of(FREE), Set.of(HELD), Set.of(FREE));
    }

    @Test
    void whileSomethingOfAShardWithAHeldKeyIsUnderWayThereMayBeMoreBehindIt() {
        Delivery other = delivery(1, FREE);
        found = List.of(other);
        assertThat(take(Duration.ZERO).complete()).isTrue();
        Delivery holder = delivery(2, HELD);
        found = List.of(holder);
        assertThat(take(Duration.ZERO).complete()).isFalse();
        found = List.of();
        assertThat(take(Duration.ZERO).complete()).isFalse();
        intake.settle(List.of(holder));
        assertThat(take(Duration.ZERO).complete()).isTrue();
    }

    @Test
    void whoMayNotReadHasNotSeenThatThereIsNothing() {
        ownership.renewed(now);
        Taken taken = take(Duration.ZERO);
        assertThat(reads).isEmpty();
        assertThat(taken.complete()).isFalse();
    }

    @Test
    void whoseRightEndsWhileItReadsHasNotSeenThatThereIsNothing() {
        ownership.renewed(now + Duration.ofMillis(5).toNanos());
        Taken taken = take(Duration.ofMillis(5));
        assertThat(reads).isNotEmpty();
        assertThat(taken.complete()).isFalse();
    }

    @Test
    void behindAPartThereMayBeMore() {
        assertThat(take(Duration.ZERO).more()).isFalse();
        isPart = true;
        assertThat(take(Duration.ZERO).more()).isTrue();
    }

    @Test
    void ofSomeStreamsAloneNoPartWillDo() {
        isPart = true;
        Demand besideAFullStream = new Demand(10, 1000, Set.of("full"), null, Set.of(), Map.of());
        assertThat(intake.take(besideAFullStream).more()).isFalse();
        assertThat(intake.take(Demand.trial("s", 10, 1000)).more()).isFalse();
    }

    @Test
    void whatIsCutOffByItsBytesIsNotReadDeeper() {
        for (int shard = 100; shard < 200; shard++) {
            ownership.add(Map.of(shard, 1L));
        }
        Demand demand = Demand.of(100, 1000, Set.of());
        found = List.of(delivery(1, FREE, 1000));
        intake.take(demand);
        intake.take(demand);
        assertThat(depth).isEqualTo(4);
        found = List.of(delivery(2, FREE, 1), delivery(3, FREE, 1), delivery(4, FREE, 1), delivery(5, FREE, 1));
        intake.take(demand);
        found = List.of();
        intake.take(demand);
        assertThat(depth).as("there was room for more").isEqualTo(16);
    }

    private Delivery delivery(long id, int shard) {
        return delivery(id, shard, 0);
    }

    private Delivery delivery(long id, int shard, int bytes) {
        OutboxEvent event =
                OutboxEvent.of("s", "T").key("k").payload(new byte[bytes]).build();
        return new Delivery(id, 0, 0, event, new ShardClaim(shard, 1, true, 0, ownership));
    }

    private Taken take(Duration each) {
        readTakes = each;
        return intake.take(Demand.of(10, 1000, Set.of()));
    }

    /** Has one shard with a held key. */
    private final class Table implements EventStore {
        @Override
        public Found read(Query query) {
            now += readTakes.toNanos();
            Set<Integer> shards = Set.copyOf(query.shards().keySet());
            reads.add(shards);
            depth = query.depth();
            Set<Integer> holding = shards.contains(HELD) ? Set.of(HELD) : Set.of();
            List<Delivery> theirs = found.stream()
                    .filter(each -> shards.contains(ShardClaim.of(each).shard()))
                    .toList();
            return new Found(theirs, shards, holding, Set.of(), Optional.empty(), isPart && query.orPart());
        }

        @Override
        public void settle(List<Delivery> published) {}

        @Override
        public Judged verdict(List<Verdict> verdicts) {
            return new Judged(Set.of(), Set.of());
        }

        @Override
        public void register(Set<String> streams) {}

        @Override
        public Set<Long> mark(List<Delivery> suspects) {
            return Set.of();
        }

        @Override
        public void calm(Map<Integer, Long> shards) {
            throw new AssertionError("nothing to be careful with");
        }

        @Override
        public void close() {}
    }
}
