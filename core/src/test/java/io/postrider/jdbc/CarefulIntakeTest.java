// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.FeedException;
import io.postrider.relay.Outcome;
import io.postrider.relay.Taken;
import io.postrider.relay.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What an owner does with shards whose former owners ended again and again. */
class CarefulIntakeTest {
    private static final int CAREFUL = 2;
    private static final int CAREFUL_TOO = 3;
    private static final int PLAIN = 4;
    private static final long NEWEST = 1_000;

    private static final Demand LARGE = Demand.of(1_000, 1_000_000, Set.of());

    private long now;
    private final Ownership ownership = new Ownership();
    private final CarefulTable table = new CarefulTable(ownership);
    private final OrderedIntake intake = intake(0, 1);

    CarefulIntakeTest() {
        ownership.joined(1);
        ownership.add(new ShardStore.Won(
                Map.of(CAREFUL, 1L, CAREFUL_TOO, 1L, PLAIN, 1L), Map.of(CAREFUL, left(3), CAREFUL_TOO, left(3))));
        ownership.renewed(Long.MAX_VALUE);
    }

    @Test
    void aFewAreHandedOutAndMarkedBeforeAndTheNextWhenTheseAreAnswered() {
        table.put(CAREFUL, 11, 13);
        table.put(CAREFUL_TOO, 12);
        Demand two = Demand.of(2, 1000, Set.of());
        Taken first = intake.take(two);
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
    void severalOfAShardAreSentTogetherButNotMany() {
        LongStream.rangeClosed(1, 300).forEach(id -> table.put(CAREFUL, id));
        LongStream.rangeClosed(301, 600).forEach(id -> table.put(CAREFUL_TOO, id));
        assertThat(intake.take(LARGE).deliveries()).hasSize(256);
        assertThat(table.marked).hasSize(256);
    }

    @Test
    void thoseWithWhichARelayEndedAreSentInSmallGroups() {
        LongStream.rangeClosed(1, 40).forEach(id -> table.put(CAREFUL, id));
        LongStream.rangeClosed(21, 40).forEach(id -> table.deaths.put(id, 1));
        Taken older = intake.take(LARGE);
        assertThat(ids(older)).as("none of them has to go with a suspect").hasSize(20);
        intake.settle(older.deliveries());
        Taken some = intake.take(LARGE);
        assertThat(ids(some)).hasSize(16).endsWith(36L);
        assertThat(table.marked).as("nothing else").hasSize(36);
        assertThat(table.depth).as("the look before brought more than might go").isEqualTo(16);
        intake.settle(some.deliveries());
        assertThat(ids(intake.take(LARGE))).containsExactly(37L, 38L, 39L, 40L);
    }

    @Test
    void whatIsOlderGoesWithASuspectIfThereIsRoom() {
        LongStream.rangeClosed(1, 40).forEach(id -> table.put(CAREFUL, id));
        table.deaths.put(10L, 1);
        assertThat(ids(intake.take(LARGE))).hasSize(16);
    }

    @Test
    void shardsThatBroughtNothingAreNotReadForEachGroup() {
        Demand one = Demand.of(1, 1000, Set.of());
        table.put(CAREFUL, 11, 12, 13, 14);
        intake.take(new Demand(1, 1000, Set.of("s"), null, Set.of(), Map.of()));
        intake.take(Demand.trial("t", 10, 1000));
        table.put(PLAIN, 21);
        Taken asEver = intake.take(one);
        assertThat(ids(asEver)).as("the reads before did not ask for all").containsExactly(21L);
        intake.settle(asEver.deliveries());
        assertThat(ids(intake.take(one))).isEmpty();
        table.put(PLAIN, 22);
        now += Duration.ofMillis(50).toNanos() - 1;
        assertThat(ids(intake.take(one))).isEmpty();
        Taken tried = intake.take(Demand.trial("s", 10, 1000));
        assertThat(ids(tried)).as("where it is asked for").containsExactly(22L);
        intake.release(tried.deliveries());
        assertThat(ids(intake.take(one))).as("it brought something").containsExactly(22L);
        intake.settle(tried.deliveries());
        assertThat(ids(intake.take(one))).isEmpty();
        table.put(PLAIN, 23);
        now += Duration.ofMillis(50).toNanos();
        assertThat(ids(intake.take(one))).containsExactly(23L);
    }

    @Test
    void noMoreBytesThanThereIsRoomForGoTogether() {
        Map<Integer, Long> many =
                IntStream.range(10, 110).boxed().collect(Collectors.toMap(shard -> shard, shard -> 1L));
        ownership.add(new ShardStore.Won(
                many, many.keySet().stream().collect(Collectors.toMap(shard -> shard, shard -> left(3)))));
        many.keySet().forEach(shard -> table.put(shard, shard));
        assertThat(intake.take(Demand.of(1_000, 3, Set.of())).deliveries()).hasSize(3);
        assertThat(table.statements)
                .as("others, some of them, and not the rest")
                .containsExactly("read", "read", "mark");
    }

    @Test
    void whatSeveralLooksBroughtIsCutAsWell() {
        table.put(CAREFUL, 1, 2, 3, 4, 5);
        List<Delivery> all = table.read(
                        new EventStore.Query(Map.of(CAREFUL, 1L), List.of(), 10, 10, 1_000, Set.of(), null, false))
                .deliveries();
        assertThat(new Caution.Room(10, 3).firstOf(all)).hasSize(3);
        assertThat(new Caution.Room(2, 1_000).firstOf(all)).hasSize(2);
        assertThat(new Caution.Room(10, 0).firstOf(all))
                .as("one, however large")
                .hasSize(1);
    }

    @Test
    void whereThereIsMuchThatIsNewerALookStillShowsThatAShardIsCalm() {
        for (long id = 1; id <= 40; id++) {
            table.put(CAREFUL, NEWEST + id);
        }
        Demand small = Demand.of(10, 10, Set.of());
        Taken cutOff = intake.take(small);
        assertThat(cutOff.deliveries()).as("older ones may be behind it").hasSize(10);
        assertThat(table.calmed).isEmpty();
        intake.settle(cutOff.deliveries());
        assertThat(intake.take(small).deliveries()).as("calm first, then read").isEmpty();
        assertThat(table.calmed).containsExactlyInAnyOrder(CAREFUL, CAREFUL_TOO);
        assertThat(intake.take(Demand.of(100, 1000, Set.of())).deliveries()).hasSize(30);
    }

    @Test
    void oneWithWhichTwoRelaysEndedIsSentAloneAfterWhatIsOlder() {
        table.put(CAREFUL, 11, 13, 14);
        table.put(CAREFUL_TOO, 12);
        table.deaths.put(13L, 2);
        Taken older = take();
        assertThat(ids(older)).containsExactly(11L, 12L);
        assertThat(table.marked).as("nothing else").containsExactly(11L, 12L);
        intake.settle(older.deliveries());
        Taken alone = take();
        assertThat(ids(alone)).containsExactly(13L);
        assertThat(table.marked).as("it alone").containsExactly(11L, 12L, 13L);
        assertThat(ids(take())).as("while it is under way").isEmpty();
        intake.settle(alone.deliveries());
        assertThat(ids(take())).containsExactly(14L);
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
    void anEventWithWhichFiveRelaysEndedIsDeadAndNotSent() {
        table.put(CAREFUL, 11, 12);
        table.deaths.put(11L, 5);
        Taken taken = take();
        assertThat(ids(taken)).isEmpty();
        assertThat(taken.judged()).singleElement().satisfies(verdict -> {
            assertThat(verdict.delivery().id()).isEqualTo(11);
            assertThat(verdict.outcome())
                    .isEqualTo(new Outcome.Dead(
                            "KILLED_RELAY",
                            "5 relays ended without a word while they were sending this event, so it is not sent any more."
                                    + " Find out what it does to them (memory, native code), then requeue or discard"
                                    + " it."));
        });
        assertThat(intake.size()).isZero();
        assertThat(ids(take())).containsExactly(12L);
    }

    @Test
    void withFourItIsTriedOnceMore() {
        table.put(CAREFUL, 11);
        table.deaths.put(11L, 4);
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

    @Test
    void aShardThatWasLeftOnceIsReadAsEverAndCalmWhenAllHasGoneThatWasThere() {
        leftOnce();
        table.put(PLAIN, 21, 22);
        Taken old = take();
        assertThat(ids(old)).containsExactly(21L, 22L);
        table.put(PLAIN, NEWEST + 1);
        Taken late = take();
        assertThat(ids(late)).containsExactly(NEWEST + 1);
        intake.settle(old.deliveries().subList(0, 1));
        take();
        assertThat(table.calmed).as("while one of them is under way").isEmpty();
        intake.release(old.deliveries().subList(1, 2));
        Taken again = take();
        assertThat(ids(again)).containsExactly(22L);
        assertThat(table.calmed).as("one of them was still to be sent").isEmpty();
        intake.settle(again.deliveries());
        assertThat(intake.size()).as("what came later is still under way").isEqualTo(1);
        take();
        assertThat(table.calmed).containsExactly(PLAIN);
        take();
        assertThat(table.calmed).as("once is enough").hasSize(1);
        assertThat(table.marked).isEmpty();
    }

    @Test
    void aReadThatLeftSomethingOutShowsNoShardToBeCalm() {
        leftOnce();
        table.put(PLAIN, 21);
        intake.release(intake.take(Demand.trial("t", 10, 1000)).deliveries());
        intake.take(new Demand(10, 1000, Set.of("s"), null, Set.of(), Map.of()));
        assertThat(table.calmed).isEmpty();
        intake.take(Demand.of(10, 1000, Set.of("s")));
        assertThat(table.calmed)
                .as("nobody sends from it while its gate is closed")
                .containsExactly(PLAIN);
    }

    @Test
    void whatWasTakenBeforeTheShardWasLostStillCounts() {
        leftOnce();
        table.put(PLAIN, 21);
        Taken before = take();
        table.epoch = 3;
        ownership.add(new ShardStore.Won(Map.of(PLAIN, 3L), Map.of(PLAIN, left(1))));
        take();
        assertThat(table.calmed).isEmpty();
        intake.settle(before.deliveries());
        take();
        assertThat(table.calmed).containsExactly(PLAIN);
    }

    private void leftOnce() {
        ownership.suspects().calm(Map.of(CAREFUL, 1L, CAREFUL_TOO, 1L));
        ownership.add(new ShardStore.Won(Map.of(PLAIN, 1L), Map.of(PLAIN, left(1))));
    }

    private static ShardStore.Left left(int unclean) {
        return new ShardStore.Left(unclean, NEWEST);
    }

    private OrderedIntake intake(int index, int count) {
        return new OrderedIntake(table, ownership, new OrderedIntake.Part(index, count, false, null), () -> now);
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
}
