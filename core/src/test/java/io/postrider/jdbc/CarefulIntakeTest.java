// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.FeedException;
import io.postrider.relay.Outcome;
import io.postrider.relay.Taken;
import io.postrider.relay.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What an owner does with shards whose former owners ended again and again. */
class CarefulIntakeTest {
    private static final int CAREFUL = 2;
    private static final int CAREFUL_TOO = 3;
    private static final int PLAIN = 4;
    private static final long NEWEST = 100;

    private final Ownership ownership = new Ownership();
    private final Table table = new Table();
    private final OrderedIntake intake = intake(0, 1);

    CarefulIntakeTest() {
        ownership.joined(1);
        ownership.add(new ShardStore.Won(
                Map.of(CAREFUL, 1L, CAREFUL_TOO, 1L, PLAIN, 1L), Map.of(CAREFUL, NEWEST, CAREFUL_TOO, NEWEST)));
        ownership.renewed(Long.MAX_VALUE);
    }

    @Test
    void oneEventOfEachShardIsHandedOutAndMarkedBefore() {
        table.put(CAREFUL, 11, 13);
        table.put(CAREFUL_TOO, 12);
        Taken first = take();
        assertThat(ids(first)).containsExactly(11L, 12L);
        assertThat(table.marked).containsExactly(11L, 12L);
        assertThat(ids(take())).as("while they are under way").isEmpty();
        intake.settle(first.deliveries().subList(0, 1));
        assertThat(ids(take())).as("while one of them is").isEmpty();
        intake.verdict(List.of(
                new Verdict(first.deliveries().get(1), new Outcome.Retry(Duration.ofHours(1), "BUSY", "busy"))));
        Taken second = take();
        assertThat(ids(second)).containsExactly(13L);
        intake.release(second.deliveries());
        assertThat(ids(take())).as("given back, so it comes again").containsExactly(13L);
        assertThat(table.marked).containsExactly(11L, 12L, 13L, 13L);
    }

    @Test
    void oneWithWhichARelayEndedIsSentAlone() {
        table.put(CAREFUL, 11);
        table.put(CAREFUL_TOO, 12);
        table.deaths.put(12L, 1);
        Taken alone = take();
        assertThat(ids(alone)).containsExactly(12L);
        assertThat(table.marked)
                .as("the last mark is of it alone")
                .endsWith(12L)
                .hasSize(3);
        assertThat(ids(take())).as("while it is under way").isEmpty();
        intake.settle(alone.deliveries());
        assertThat(ids(take())).containsExactly(11L);
    }

    @Test
    void noMoreThanThereIsRoomForAndOneWhereADestinationIsTried() {
        table.put(CAREFUL, 11);
        table.put(CAREFUL_TOO, 12);
        Taken one = intake.take(Demand.of(1, 1000, Set.of()));
        assertThat(ids(one)).containsExactly(11L);
        intake.release(one.deliveries());
        assertThat(ids(intake.take(Demand.trial("s", 10, 1000)))).hasSize(1);
    }

    @Test
    void whatIsNotHandedOutYetIsSaidToBeLeft() {
        table.put(CAREFUL, 11, 12);
        Taken first = take();
        assertThat(first.complete()).isFalse();
        Taken none = take();
        assertThat(none.complete()).as("nothing found is not nothing left").isFalse();
        assertThat(none.nextDue()).contains(Duration.ofMillis(10));
    }

    @Test
    void otherShardsAreReadAsEver() {
        table.put(PLAIN, 21, 22, 23);
        ownership.suspects().calm(Map.of(CAREFUL, 1L, CAREFUL_TOO, 1L));
        Taken all = take();
        assertThat(ids(all)).containsExactly(21L, 22L, 23L);
        assertThat(all.complete()).isTrue();
        assertThat(table.statements).containsExactly("read");
    }

    @Test
    void theLoopsOfAProcessHaveOneSuspectAmongThem() {
        OrderedIntake even = intake(0, 2);
        OrderedIntake odd = intake(1, 2);
        table.put(CAREFUL, 11);
        table.put(CAREFUL_TOO, 12);
        Taken first = even.take(demand());
        assertThat(ids(first)).containsExactly(11L);
        Taken none = odd.take(demand());
        assertThat(ids(none)).isEmpty();
        assertThat(none.complete()).isFalse();
        even.settle(first.deliveries());
        assertThat(ids(odd.take(demand()))).containsExactly(12L);
    }

    @Test
    void anEventWithWhichFourRelaysEndedIsDeadAndNotSent() {
        table.put(CAREFUL, 11, 12);
        table.deaths.put(11L, 4);
        Taken taken = take();
        assertThat(ids(taken)).isEmpty();
        assertThat(taken.judged()).singleElement().satisfies(verdict -> {
            assertThat(verdict.delivery().id()).isEqualTo(11);
            assertThat(verdict.outcome())
                    .isEqualTo(new Outcome.Dead(
                            "KILLED_RELAY",
                            "4 relays ended without a word while they were sending this event, so it is not sent any more."
                                    + " Find out what it does to them (memory, native code), then requeue or discard"
                                    + " it."));
        });
        assertThat(intake.size()).isZero();
        assertThat(ids(take())).containsExactly(12L);
    }

    @Test
    void withThreeItIsTriedOnceMore() {
        table.put(CAREFUL, 11);
        table.deaths.put(11L, 3);
        assertThat(ids(take())).containsExactly(11L);
    }

    @Test
    void whatCouldNotBeMarkedIsNotHandedOut() {
        table.put(CAREFUL, 11);
        table.put(PLAIN, 21);
        table.refusesMarks = true;
        assertThat(ids(take())).containsExactly(21L);
        table.refusesMarks = false;
        table.failsMarks = true;
        assertThatThrownBy(this::take).isInstanceOf(FeedException.class);
        assertThat(intake.size()).as("what was read before it").isEqualTo(1);
        table.failsMarks = false;
        assertThat(ids(take())).containsExactly(11L);
    }

    @Test
    void aShardIsCalmOnceAllThatWasThereAtTheTakeoverHasGone() {
        table.put(CAREFUL, 11, NEWEST + 1, NEWEST + 2);
        Taken old = take();
        assertThat(table.calmed).containsExactly(CAREFUL_TOO);
        intake.settle(old.deliveries());
        assertThat(ids(take())).as("calm first, then read").isEmpty();
        assertThat(table.calmed).containsExactly(CAREFUL_TOO, CAREFUL);
        Taken rest = take();
        assertThat(ids(rest)).containsExactly(NEWEST + 1, NEWEST + 2);
        assertThat(rest.complete()).isTrue();
        assertThat(table.marked).containsExactly(11L);
    }

    @Test
    void aLookAtOneStreamAloneShowsNoShardToBeCalm() {
        table.put(CAREFUL, 11);
        intake.release(intake.take(Demand.trial("t", 10, 1000)).deliveries());
        assertThat(table.calmed).isEmpty();
        assertThat(ids(take())).containsExactly(11L);
    }

    @Test
    void aStreamWithoutRoomForManyHasRoomForASuspect() {
        table.put(CAREFUL, 11);
        assertThat(ids(intake.take(new Demand(10, 1000, Set.of("s"), null, Set.of(), Map.of()))))
                .containsExactly(11L);
        assertThat(table.calmed).doesNotContain(CAREFUL);
    }

    @Test
    void aShardThatWasTakenAnewIsJudgedByItsNewEpoch() {
        ownership.add(new ShardStore.Won(Map.of(CAREFUL, 2L), Map.of()));
        table.epoch = 2;
        ownership.suspects().calm(Map.of(CAREFUL_TOO, 1L));
        table.put(CAREFUL, 11, 12);
        assertThat(ids(take())).containsExactly(11L, 12L);
    }

    private OrderedIntake intake(int index, int count) {
        return new OrderedIntake(table, ownership, new OrderedIntake.Part(index, count, false, null), () -> 0);
    }

    private Taken take() {
        return intake.take(demand());
    }

    private static Demand demand() {
        return Demand.of(10, 1000, Set.of());
    }

    private static List<Long> ids(Taken taken) {
        return taken.deliveries().stream().map(Delivery::id).toList();
    }

    /** Events of stream s, each with a key of its own. */
    private final class Table implements EventStore {
        final TreeMap<Long, Integer> shardOf = new TreeMap<>();
        final Map<Long, Integer> deaths = new HashMap<>();
        final List<Long> marked = new ArrayList<>();
        final List<Integer> calmed = new ArrayList<>();
        final List<String> statements = new ArrayList<>();
        boolean refusesMarks;
        boolean failsMarks;
        long epoch = 1;

        void put(int shard, long... ids) {
            for (long id : ids) {
                shardOf.put(id, shard);
            }
        }

        @Override
        public Found read(Query query) {
            statements.add("read");
            List<Delivery> found = new ArrayList<>();
            Map<Integer, Integer> depths = new HashMap<>();
            boolean barred = query.without().contains("s")
                    || (query.only() != null && !query.only().equals("s"));
            shardOf.forEach((id, shard) -> {
                boolean there =
                        query.shards().containsKey(shard) && !query.inFlight().contains(id);
                if (!barred && there && depths.merge(shard, 1, Integer::sum) <= query.depth()) {
                    found.add(delivery(id, shard));
                }
            });
            Set<Integer> owned = new HashSet<>(query.shards().keySet());
            return new Found(found, owned, Set.of(), Set.of(), Optional.empty());
        }

        private Delivery delivery(long id, int shard) {
            OutboxEvent event = OutboxEvent.of("s", "T")
                    .id(new UUID(0, id))
                    .key("k" + id)
                    .payload(new byte[1])
                    .build();
            return new Delivery(id, 0, 0, event, new ShardClaim(shard, epoch, false, ownership));
        }

        @Override
        public void settle(List<Delivery> published) {
            published.forEach(delivery -> shardOf.remove(delivery.id()));
        }

        @Override
        public Judged verdict(List<Verdict> verdicts) {
            Set<Long> written = new HashSet<>();
            Set<Integer> owned = new HashSet<>();
            for (Verdict verdict : verdicts) {
                written.add(verdict.delivery().id());
                owned.add(ShardClaim.of(verdict.delivery()).shard());
                shardOf.remove(verdict.delivery().id());
            }
            return new Judged(written, owned);
        }

        @Override
        public void register(Set<String> streams) {}

        @Override
        public Map<Long, Integer> mark(List<Delivery> suspects) {
            statements.add("mark");
            if (failsMarks) {
                throw new FeedException("no", new IllegalStateException());
            }
            Map<Long, Integer> noted = new HashMap<>();
            if (!refusesMarks) {
                suspects.forEach(each -> {
                    marked.add(each.id());
                    noted.put(each.id(), deaths.getOrDefault(each.id(), 0));
                });
            }
            return noted;
        }

        @Override
        public void calm(Map<Integer, Long> shards) {
            statements.add("calm");
            calmed.addAll(shards.keySet());
        }

        @Override
        public void close() {}
    }
}
