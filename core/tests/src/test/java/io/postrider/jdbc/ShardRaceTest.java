// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.jdbc.ShardStore.Peer;
import io.postrider.jdbc.ShardStore.Seen;
import io.postrider.jdbc.ShardStore.Survey;
import io.postrider.jdbc.ShardStore.Wants;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A shard has one owner at a time, and a relay that lives is never taken for dead. */
class ShardRaceTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private Party one;
    private Party two;

    @BeforeEach
    void join() {
        database.clear();
        one = Party.joining(database, "one");
        two = Party.joining(database, "two");
    }

    @AfterEach
    void close() {
        one.close();
        two.close();
    }

    @Test
    void ofTwoWhoTakeAtOnceTheSecondGetsNothing() throws Exception {
        List<Seen> seen = two.survey();
        try (OpenTransaction first = database.begin()) {
            assertThat(one.in(first).takeAll()).hasSize(256);
            Background<Map<Integer, Long>> second =
                    Background.start(() -> two.shards.take(two.member(), seen).epochs());
            first.awaitSomebodyBlocked();
            assertThat(second.isDone()).isFalse();
            first.commit();
            assertThat(second.get()).isEmpty();
        }
        assertThat(owners()).containsExactly("256 " + one.member() + " 1 0");
    }

    @Test
    void ofTwoWhoTakeAtOnceTheSecondGetsWhatTheFirstRolledBack() throws Exception {
        List<Seen> seen = two.survey();
        try (OpenTransaction first = database.begin()) {
            one.in(first).takeAll();
            Background<Map<Integer, Long>> second =
                    Background.start(() -> two.shards.take(two.member(), seen).epochs());
            first.awaitSomebodyBlocked();
            first.rollback();
            assertThat(second.get()).hasSize(256);
        }
        assertThat(owners()).containsExactly("256 " + two.member() + " 1 0");
    }

    @Test
    void theSecondTakerStealsNothingAlsoIfTheFirstIsGoneAgain() throws Exception {
        List<Seen> seen = two.survey();
        try (OpenTransaction first = database.begin()) {
            one.in(first).takeAll();
            first.execute("DELETE FROM outbox_relay WHERE id = " + one.member());
            Background<Map<Integer, Long>> second =
                    Background.start(() -> two.shards.take(two.member(), seen).epochs());
            first.awaitSomebodyBlocked();
            first.commit();
            assertThat(second.get()).isEmpty();
        }
        assertThat(two.takeAll()).hasSize(256).containsEntry(7, 2L);
        assertThat(owners()).containsExactly("256 " + two.member() + " 2 1");
    }

    @Test
    void whoHasSeenAnOlderEpochGetsNothing() {
        List<Seen> old = two.survey();
        one.takeAll();
        database.execute("DELETE FROM outbox_relay WHERE id = " + one.member());
        assertThat(two.shards.take(two.member(), old).epochs()).isEmpty();
        assertThat(two.shards.take(two.member(), two.survey()).epochs()).hasSize(256);
    }

    @Test
    void nothingIsTakenFromAnOwnerWhoLives() {
        one.takeAll();
        database.execute("UPDATE outbox_relay SET lease_until = clock_timestamp() - interval '1 hour' WHERE id = "
                + one.member());
        assertThat(two.takeAll()).as("its row is there, whatever its lease").isEmpty();
    }

    @Test
    void whoIsNoLivingRelayTakesNothing() {
        List<Seen> seen = one.survey();
        database.execute("UPDATE outbox_relay SET lease_until = clock_timestamp() - interval '1 second'");
        assertThat(one.shards.take(one.member(), seen).epochs()).isEmpty();
        database.execute("DELETE FROM outbox_relay");
        assertThat(one.shards.take(one.member(), seen).epochs()).isEmpty();
    }

    @Test
    void groupsDoNotTouchEachOthersShards() {
        try (Party other = Party.owning(database, "other", "other")) {
            assertThat(one.takeAll()).hasSize(256);
            other.shards.release(other.member(), other.ownership.all());
            assertThat(two.takeAll()).isEmpty();
        }
    }

    @Test
    void aReleaseGivesUpOnlyWhatIsStillOwnedInThatEpoch() {
        Map<Integer, Long> owned = one.takeAll();
        one.shards.release(two.member(), owned);
        one.shards.release(one.member(), Map.of(3, 0L));
        one.shards.release(one.member(), Map.of(4, 2L));
        assertThat(owners()).containsExactly("256 " + one.member() + " 1 0");
        one.shards.release(one.member(), Map.of(5, 1L));
        assertThat(two.takeAll()).containsExactly(Map.entry(5, 2L));
    }

    @Test
    void aReleaseThatWaitedForATakeoverChangesNothing() throws Exception {
        Map<Integer, Long> owned = one.takeAll();
        database.execute("DELETE FROM outbox_relay WHERE id = " + one.member());
        try (OpenTransaction takeover = database.begin()) {
            assertThat(two.in(takeover).takeAll()).hasSize(256);
            Background<Void> releasing = Background.start(() -> {
                one.shards.release(one.member(), owned);
                return null;
            });
            takeover.awaitSomebodyBlocked();
            takeover.commit();
            releasing.get();
        }
        assertThat(owners()).containsExactly("256 " + two.member() + " 2 1");
    }

    @Test
    void onlyADirtyEndRaisesUnclean() {
        Map<Integer, Long> owned = one.takeAll();
        one.shards.release(one.member(), owned);
        assertThat(two.takeAll()).hasSize(256);
        assertThat(owners()).containsExactly("256 " + two.member() + " 2 0");
        database.execute("DELETE FROM outbox_relay WHERE id = " + two.member());
        owned = one.takeAll();
        assertThat(owners()).containsExactly("256 " + one.member() + " 3 1");
        one.shards.release(one.member(), owned);
        assertThat(database.column("SELECT DISTINCT unclean FROM outbox_shard")).containsExactly("0");
    }

    @Test
    void aRenewalUnderWaySavesARelayFromBeingDeclaredDead() throws Exception {
        leaseOfTwoRanOut();
        Peer seen = seenByOne();
        try (OpenTransaction renewal = database.begin()) {
            assertThat(tick(two.in(renewal)).renewed()).isTrue();
            Background<Boolean> declaring = Background.start(() -> one.shards.declareDead(seen, false));
            renewal.awaitSomebodyBlocked();
            assertThat(declaring.isDone()).isFalse();
            renewal.commit();
            assertThat(declaring.get()).isFalse();
        }
        assertThat(tick(two).renewed()).isTrue();
    }

    @Test
    void aRenewalUnderWaySavesARelayAlsoFromOneWhoSawItStandStill() throws Exception {
        Peer seen = seenByOne();
        try (OpenTransaction renewal = database.begin()) {
            tick(two.in(renewal));
            Background<Boolean> declaring = Background.start(() -> one.shards.declareDead(seen, true));
            renewal.awaitSomebodyBlocked();
            renewal.commit();
            assertThat(declaring.get()).isFalse();
        }
    }

    @Test
    void aRenewalWaitsForADeclarationUnderWayAndThenRenewsNothing() throws Exception {
        leaseOfTwoRanOut();
        Peer seen = seenByOne();
        try (OpenTransaction declaration = database.begin()) {
            assertThat(one.in(declaration).shards.declareDead(seen, false)).isTrue();
            Background<Survey> renewing = Background.start(() -> tick(two));
            declaration.awaitSomebodyBlocked();
            declaration.commit();
            assertThat(renewing.get().renewed()).isFalse();
        }
        assertThat(tick(two).renewed()).as("and never again").isFalse();
    }

    @Test
    void onlyAnOutdatedLeaseOrALongStillnessMakesARelayDead() {
        Peer seen = seenByOne();
        assertThat(one.shards.declareDead(seen, false)).isFalse();
        tick(two);
        assertThat(one.shards.declareDead(seen, true)).as("it moved since").isFalse();
        assertThat(one.shards.declareDead(seenByOne(), true)).isTrue();
        assertThat(tick(two).renewed()).isFalse();
    }

    @Test
    void aRenewalMovesTheBeatAndTheLease() {
        leaseOfTwoRanOut();
        Peer before = seenByOne();
        assertThat(before.past()).isTrue();
        tick(two);
        Peer after = seenByOne();
        assertThat(after.past()).isFalse();
        assertThat(after.beat()).isEqualTo(before.beat() + 1);
    }

    private void leaseOfTwoRanOut() {
        database.execute("UPDATE outbox_relay SET lease_until = clock_timestamp() - interval '1 second' WHERE id = "
                + two.member());
    }

    private Peer seenByOne() {
        return tick(one).peers().stream()
                .filter(peer -> peer.id() == two.member())
                .findFirst()
                .orElseThrow();
    }

    private static Survey tick(Party party) {
        return party.shards.tick(party.member(), Wants.SHARDS, Party.QUIET);
    }

    /** How many shards have which owner, epoch and number of unclean ends. */
    private static List<String> owners() {
        return database.column("SELECT concat_ws(' ', count(*), owner, epoch, unclean) FROM outbox_shard"
                + " GROUP BY owner, epoch, unclean");
    }
}
