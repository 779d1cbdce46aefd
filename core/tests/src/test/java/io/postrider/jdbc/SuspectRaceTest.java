// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.ops.Actor;
import io.postrider.ops.DeadLetterQuery;
import io.postrider.ops.DeadLetters;
import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.Taken;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Only the owner of a shard marks what it is about to send, and only a death with that mark counts against it. */
class SuspectRaceTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private Party owner;

    @BeforeEach
    void join() {
        database.clear();
        owner = Party.owning(database, "owner");
    }

    @AfterEach
    void close() {
        owner.close();
    }

    @Test
    void aRelayHasOneMarkThatMoves() {
        long first = database.event("s", "k");
        long second = database.event("s", "l");
        List<Delivery> taken = owner.read();
        assertThat(mark(owner, taken.get(0))).isTrue();
        assertThat(suspects()).containsExactly(text(first));
        assertThat(mark(owner, taken.get(1))).isTrue();
        assertThat(suspects()).containsExactly(text(second));
        owner.events.calm(Map.of(shard(first), 1L));
        assertThat(suspects()).as("calm is another shard").containsExactly(text(second));
        owner.events.calm(owner.ownership.all());
        assertThat(suspects()).isEmpty();
    }

    @Test
    void afterATakeoverNothingIsMarkedAndNothingCalmed() {
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        died(owner);
        try (Party successor = Party.owning(database, "successor")) {
            assertThat(mark(owner, taken.get(0))).isFalse();
            owner.events.calm(owner.ownership.all());
            assertThat(suspects()).isEmpty();
            assertThat(unclean()).containsExactly("1");
            assertThat(mark(successor, successor.read().get(0))).isTrue();
            assertThat(mark(owner, taken.get(0))).isFalse();
            assertThat(suspects()).as("the mark of the new owner stays").containsExactly(text(id));
        }
    }

    @Test
    void aMarkWaitsForATakeoverInProgressAndIsThenRefused() throws Exception {
        database.event("s", "k");
        List<Delivery> taken = owner.read();
        died(owner);
        try (Party successor = Party.joining(database, "successor");
                OpenTransaction takeover = database.begin()) {
            successor.in(takeover).takeAll();
            Background<Boolean> marking = Background.start(() -> mark(owner, taken.get(0)));
            takeover.awaitSomebodyBlocked();
            assertThat(marking.isDone()).isFalse();
            takeover.commit();
            assertThat(marking.get()).isFalse();
        }
        assertThat(suspects()).isEmpty();
    }

    @Test
    void aTakeoverWaitsForAMarkInProgressAndCountsIt() throws Exception {
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        try (Party successor = Party.joining(database, "successor");
                OpenTransaction mark = database.begin()) {
            assertThat(mark(owner.in(mark), taken.get(0))).isTrue();
            died(owner);
            Background<Map<Integer, Long>> taking = Background.start(successor::takeAll);
            mark.awaitSomebodyBlocked();
            assertThat(taking.isDone()).isFalse();
            mark.commit();
            assertThat(taking.get()).hasSize(256);
        }
        assertThat(database.row(id, "unclean_count, revision")).isEqualTo("1,0");
        assertThat(suspects()).isEmpty();
    }

    @Test
    void onlyTheMarkedEventIsCountedAndOnlyOnce() {
        long suspect = database.event("s", "k");
        long other = database.event("s", "k");
        mark(owner, owner.read().get(0));
        died(owner);
        try (Party second = Party.owning(database, "second")) {
            assertThat(counts(suspect, other)).containsExactly("1", "0");
            died(second);
        }
        try (Party third = Party.owning(database, "third")) {
            assertThat(counts(suspect, other))
                    .as("the second had marked nothing")
                    .containsExactly("1", "0");
            assertThat(ShardClaim.of(third.read().get(0)).ends()).isEqualTo(1);
        }
    }

    @Test
    void severalOfOneShardAreMarkedAndCountedTogether() {
        long first = database.event("s", "k");
        long second = database.event("s", "k");
        long other = database.event("s", "l");
        long unmarked = database.event("s", "k");
        List<Delivery> taken =
                owner.read().stream().filter(each -> each.id() != unmarked).toList();
        assertThat(owner.events.mark(taken)).containsExactlyInAnyOrder(first, second, other);
        assertThat(suspects()).containsExactly(text(first), text(second), text(other));
        died(owner);
        try (Party successor = Party.owning(database, "successor")) {
            assertThat(counts(first, second, other, unmarked)).containsExactly("1", "1", "1", "0");
            assertThat(successor.read())
                    .extracting(each -> each.id() + " " + ShardClaim.of(each).ends())
                    .containsExactlyInAnyOrder(first + " 1", second + " 1", other + " 1", unmarked + " 0");
        }
    }

    @Test
    void aReleaseTakesTheMarkAwayAndNothingIsCounted() {
        long id = database.event("s", "k");
        mark(owner, owner.read().get(0));
        owner.shards.release(owner.member(), owner.ownership.all());
        try (Party successor = Party.owning(database, "successor")) {
            assertThat(counts(id)).containsExactly("0");
            assertThat(successor.readIds()).containsExactly(id);
        }
    }

    @Test
    void whoeverDeliveredItStillSettlesItAfterItWasCounted() {
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        mark(owner, taken.get(0));
        died(owner);
        try (Party successor = Party.owning(database, "successor")) {
            assertThat(counts(id)).containsExactly("1");
            owner.events.settle(taken);
            assertThat(database.row(id, "id")).isEqualTo("gone");
            assertThat(successor.readIds()).isEmpty();
        }
    }

    @Test
    void aTakeoverDoesNotWaitForADeliveryThatIsBeingRecorded() throws Exception {
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        mark(owner, taken.get(0));
        try (OpenTransaction settling = database.begin();
                Party successor = Party.joining(database, "successor")) {
            owner.in(settling).events.settle(taken);
            died(owner);
            assertThat(successor.takeAll()).hasSize(256);
            settling.commit();
        }
        assertThat(database.row(id, "id")).isEqualTo("gone");
    }

    @Test
    void fromTheThirdUncleanEndOnAShardStaysOneToBeCarefulWith() {
        long newest = database.event("s", "k");
        try (Party second = Party.joining(database, "second");
                Party third = Party.joining(database, "third");
                Party fourth = Party.joining(database, "fourth");
                Party fifth = Party.joining(database, "fifth")) {
            died(owner);
            assertThat(take(second).left()).hasSize(256).containsEntry(7, new ShardStore.Left(1, newest));
            died(second);
            database.event("s", "cannot have ended the first");
            assertThat(take(third).left()).hasSize(256).containsEntry(7, new ShardStore.Left(2, newest));
            died(third);
            ShardStore.Won careful = take(fourth);
            assertThat(careful.left()).hasSize(256).containsEntry(7, new ShardStore.Left(3, newest));
            fourth.shards.release(fourth.member(), careful.epochs());
            ShardStore.Won released = take(fifth);
            assertThat(released.left())
                    .as("handing it on before it was emptied proves nothing")
                    .hasSize(256)
                    .containsEntry(7, new ShardStore.Left(3, newest));
            fifth.ownership.add(released);
            fifth.events.calm(released.epochs());
            assertThat(unclean()).containsExactly("0");
        }
    }

    private static ShardStore.Won take(Party party) {
        return party.shards.take(party.member(), party.survey());
    }

    @Test
    void theFifthDeathWithAnEventIsItsEnd() {
        long poison = database.event("s", "k");
        long behind = database.event("s", "k");
        long other = database.event("s", "l");
        for (int i = 0; i < 3; i++) {
            died(owner);
            owner.close();
            owner = Party.owning(database, "another " + i);
        }
        for (int deaths = 0; deaths < 5; deaths++) {
            died(owner);
            owner.close();
            owner = careful("careful " + deaths);
            List<Long> sent = Party.ids(intake(owner).take(all()).deliveries());
            assertThat(sent)
                    .as("alone, once two relays have ended with it")
                    .isEqualTo(deaths < 2 ? List.of(poison, behind, other) : List.of(poison));
        }
        died(owner);
        owner.close();
        owner = careful("the last");
        OrderedIntake intake = intake(owner);
        Taken judged = intake.take(all());
        assertThat(judged.deliveries()).isEmpty();
        assertThat(judged.judged()).hasSize(1);
        assertThat(database.row(poison, "status, holds, last_error_code, unclean_count"))
                .isEqualTo("DEAD,t,KILLED_RELAY,5");
        assertThat(database.column("SELECT error_code FROM outbox_attempt")).containsExactly("KILLED_RELAY");
        Taken next = intake.take(all());
        assertThat(Party.ids(next.deliveries())).as("its key is held").containsExactly(other);
        intake.settle(next.deliveries());
        intake.take(all());
        assertThat(intake.take(all()).complete()).as("calm again").isTrue();
        assertThat(unclean())
                .as("0, or less than is suspicious where it was calm before the last ends")
                .isSubsetOf("0", "1", "2");
        assertThat(database.row(behind, "status")).isEqualTo("PENDING");

        DeadLetters letters = DeadLetters.of(database.dataSource());
        assertThat(letters.requeue(letters.find(DeadLetterQuery.all()), new Actor("kim", "more memory")))
                .isEqualTo(1);
        assertThat(counts(poison)).containsExactly("0");
        assertThat(Party.ids(intake.take(all()).deliveries())).containsExactly(poison, behind);
    }

    private static boolean mark(Party party, Delivery suspect) {
        return party.events.mark(List.of(suspect)).contains(suspect.id());
    }

    private static Party careful(String name) {
        Party party = Party.joining(database, name);
        party.ownership.add(party.shards.take(party.member(), party.survey()));
        party.ownership.renewed(Long.MAX_VALUE);
        return party;
    }

    private static OrderedIntake intake(Party party) {
        return new OrderedIntake(party.events, party.ownership, new OrderedIntake.Part(0, 1, false, null), () -> 0);
    }

    private static Demand all() {
        return Demand.of(1000, Long.MAX_VALUE, Set.of());
    }

    private static void died(Party party) {
        database.execute("DELETE FROM outbox_relay WHERE id = " + party.member());
    }

    private static List<String> suspects() {
        return database.column("SELECT unnest(suspects) AS suspect FROM outbox_shard ORDER BY suspect");
    }

    private static List<String> unclean() {
        return database.column("SELECT DISTINCT unclean FROM outbox_shard ORDER BY unclean");
    }

    private static List<String> counts(long... ids) {
        return Arrays.stream(ids)
                .mapToObj(id -> database.row(id, "unclean_count"))
                .toList();
    }

    private static int shard(long id) {
        return Integer.parseInt(database.row(id, "shard"));
    }

    private static String text(long id) {
        return Long.toString(id);
    }
}
