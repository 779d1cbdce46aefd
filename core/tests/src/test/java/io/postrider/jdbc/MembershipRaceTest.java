// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.jdbc.ShardStore.Wants;
import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.Feed;
import io.postrider.relay.FeedException;
import io.postrider.relay.Intake;
import io.postrider.relay.Membership;
import io.postrider.relay.Taken;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How relays find each other, share, part and come back, one tick at a time. */
class MembershipRaceTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final Demand ALL = Demand.of(1000, Long.MAX_VALUE, Set.of());
    private final AtomicLong ticker = new AtomicLong();
    private final List<Member> members = new ArrayList<>();

    /** A relay's membership with a clock that stands still unless a test moves it. */
    private final class Member {
        final Ownership ownership = new Ownership();
        final OrderedMembership membership;

        Member(String name) {
            OrderedSettings settings = Party.settings("default");
            ShardStatements statements = new ShardStatements(
                    new Session(database.dataSource(), Duration.ofSeconds(30)), Party.SQL, settings);
            membership = new OrderedMembership(
                    name,
                    Wants.SHARDS,
                    new OrderedFeed.Parts(settings, ownership, statements, new Housekeeping(() -> {}, ticker::get)),
                    loop -> intake(name, settings),
                    ticker::get);
            membership.join();
            members.add(this);
        }

        private Intake intake(String name, OrderedSettings settings) {
            Session session = new Session(database.dataSource(), Duration.ofSeconds(30));
            return new OrderedIntake(
                    new EventStatements(session, Party.SQL, settings, name, ownership),
                    ownership,
                    new OrderedIntake.Part(0, 1, false, null),
                    ticker::get);
        }

        void tick() {
            membership.tick(Party.QUIET);
        }

        void leaseRanOut() {
            database.execute("UPDATE outbox_relay SET lease_until = clock_timestamp() - interval '1 second' WHERE id = "
                    + ownership.member());
        }

        boolean hasRow() {
            return database.number("SELECT count(*) FROM outbox_relay WHERE id = " + ownership.member()) == 1;
        }

        long ownedInTheTable() {
            return database.number("SELECT count(*) FROM outbox_shard WHERE owner = " + ownership.member());
        }
    }

    @BeforeEach
    void clear() {
        database.clear();
    }

    @AfterEach
    void leave() {
        members.forEach(member -> member.membership.leave());
    }

    @Test
    void whoCannotTakeItsPlaceLeavesNoneBehind() {
        Feed feed = OrderedFeed.of(database.dataSource());
        // It gets its place, and cannot renew it.
        database.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN RAISE EXCEPTION 'refused by the test'; END $$;"
                + " CREATE TRIGGER refuse BEFORE UPDATE ON outbox_relay FOR EACH ROW EXECUTE FUNCTION refuse()");
        try {
            assertThatThrownBy(() -> feed.join(new Feed.Joining("unlucky", 1, false)))
                    .isInstanceOf(FeedException.class);
        } finally {
            database.execute("DROP TRIGGER refuse ON outbox_relay; DROP FUNCTION refuse()");
        }
        assertThat(database.number("SELECT count(*) FROM outbox_relay")).isZero();
    }

    @Test
    void sharesDifferByOneAtMostAndAllShardsHaveAnOwner() {
        for (int count = 1; count <= 5; count++) {
            new Member("m" + count);
            settleDown();
            int[] shares =
                    members.stream().mapToInt(m -> m.ownership.size()).sorted().toArray();
            assertThat(IntStream.of(shares).sum()).isEqualTo(256);
            assertThat(shares[count - 1] - shares[0]).isLessThanOrEqualTo(1);
        }
        while (members.size() > 1) {
            members.remove(0).membership.leave();
            settleDown();
            assertThat(members.stream().mapToInt(m -> m.ownership.size()).sum()).isEqualTo(256);
        }
    }

    @Test
    void aRelayThatMovesIsNotDeclaredDeadHoweverOldItsLeaseLooks() {
        Member observer = new Member("observer");
        Member slow = new Member("slow");
        long number = slow.ownership.member();
        for (int i = 0; i < 5; i++) {
            observer.tick();
            slow.tick();
            slow.leaseRanOut();
            ticker.addAndGet(Duration.ofHours(1).toNanos());
        }
        assertThat(slow.hasRow()).isTrue();
        assertThat(slow.ownership.member()).as("it never had to join anew").isEqualTo(number);
    }

    @Test
    void aRelayThatWasSeenTwiceInTheSamePlaceIsDeadOnceItsLeaseRanOut() {
        Member observer = new Member("observer");
        Member gone = new Member("gone");
        gone.leaseRanOut();
        observer.tick();
        assertThat(gone.hasRow()).as("seen for the first time").isTrue();
        observer.tick();
        assertThat(gone.hasRow()).isFalse();
        assertThat(observer.ownership.size()).isEqualTo(256);
    }

    @Test
    void aRelayThatStandsStillForItsTimeIsDeadWhateverTheDatabasesClockSays() {
        Member observer = new Member("observer");
        Member gone = new Member("gone");
        observer.tick();
        ticker.addAndGet(Duration.ofMinutes(5).toNanos());
        observer.tick();
        assertThat(gone.hasRow()).as("its time is not over yet").isTrue();
        ticker.addAndGet(1);
        observer.tick();
        assertThat(gone.hasRow()).isFalse();
    }

    @Test
    void anOutageMakesNobodyDead() {
        Member observer = new Member("observer");
        Member other = new Member("other");
        observer.tick();
        database.endSessions();
        other.leaseRanOut();
        ticker.addAndGet(Duration.ofHours(1).toNanos());
        assertThatThrownBy(observer::tick).isInstanceOf(FeedException.class);
        observer.tick();
        assertThat(other.hasRow())
                .as("what was seen before the outage does not count")
                .isTrue();
        observer.tick();
        assertThat(other.hasRow()).isFalse();
    }

    @Test
    void aRelayThatWasTakenForDeadJoinsAnewAndOwnsNothingAtFirst() {
        Member observer = new Member("observer");
        Member lost = new Member("lost");
        long before = lost.ownership.member();
        settleDown();
        lost.leaseRanOut();
        observer.tick();
        observer.tick();
        assertThat(lost.hasRow()).isFalse();
        int kept = lost.ownership.size();
        assertThat(kept).isPositive();
        lost.tick();
        assertThat(lost.ownership.size()).isZero();
        assertThat(lost.ownership.mayStart(0, 1, ticker.get())).isFalse();
        assertThat(lost.ownership.member()).isGreaterThan(before);
        settleDown();
        assertThat(lost.ownership.size()).isEqualTo(128);
    }

    @Test
    void aRelayWhoseLeaseRanOutWithoutBeingMissedGoesOn() {
        Member member = new Member("member");
        Intake intake = member.membership.intake(0);
        database.event("s", "k");
        member.leaseRanOut();
        assertThat(intake.take(ALL).deliveries()).isEmpty();
        member.tick();
        assertThat(intake.take(ALL).deliveries()).hasSize(1);
        assertThat(member.ownership.size()).isEqualTo(256);
        intake.close();
    }

    @Test
    void shardsWhoseReleaseFailedAreGivenUpLater() throws Exception {
        Member first = new Member("first");
        Member second = new Member("second");
        try (OpenTransaction blocking = database.begin()) {
            blocking.execute("UPDATE outbox_shard SET epoch = epoch");
            Background<Void> releasing = Background.start(() -> {
                first.tick();
                return null;
            });
            blocking.awaitSomebodyBlocked();
            database.column("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    + " WHERE cardinality(pg_blocking_pids(pid)) > 0");
            assertThat(releasing.failure()).containsInstanceOf(FeedException.class);
        }
        assertThat(first.ownedInTheTable()).isEqualTo(256);
        settleDown();
        assertThat(first.ownership.size()).isEqualTo(128);
        assertThat(second.ownership.size()).isEqualTo(128);
        assertThat(first.ownedInTheTable()).isEqualTo(128);
    }

    @Test
    void whatTheFirstHalfOfAReadTookIsGivenBackIfTheSecondHalfFails() {
        Member member = new Member("member");
        database.execute("INSERT INTO outbox_stream (stream, relay_group) VALUES ('s', 'default')");
        database.event("s", "held", "status = 'DEAD', holds = true");
        String neighbour = database.neighbourOf("held");
        AtomicLong reads = new AtomicLong();
        AtomicLong failAt = new AtomicLong(-1);
        OrderedIntake intake = new OrderedIntake(
                new EventStatements(
                        new Session(
                                FailingSource.of(database.dataSource(), () -> reads.incrementAndGet() == failAt.get()),
                                Duration.ofSeconds(30)),
                        Party.SQL,
                        Party.settings("default"),
                        "member",
                        member.ownership),
                member.ownership,
                new OrderedIntake.Part(0, 1, false, null),
                ticker::get);
        assertThat(intake.take(ALL).deliveries()).isEmpty();
        long sameShard = database.event("s", neighbour);
        long otherShard = database.event("s", "elsewhere");
        failAt.set(reads.get() + 2);
        assertThatThrownBy(() -> intake.take(ALL)).isInstanceOf(FeedException.class);
        assertThat(intake.size()).isZero();
        Taken again = intake.take(ALL);
        assertThat(again.deliveries().stream().map(Delivery::id)).containsExactlyInAnyOrder(sameShard, otherShard);
        intake.close();
    }

    @Test
    void aShardIsGivenUpOnlyWhenNothingOfItIsUnderWay() {
        Member first = new Member("first");
        Intake intake = first.membership.intake(0);
        // In nearly all shards, so that most of those that must go are busy.
        database.execute("INSERT INTO outbox_event (stream, event_key, event_type)"
                + " SELECT 's', 'k' || n, 'T' FROM generate_series(1, 900) n");
        List<Delivery> taken = intake.take(ALL).deliveries();
        Member second = new Member("second");
        settleDown();
        Set<Integer> busy = taken.stream().map(d -> ShardClaim.of(d).shard()).collect(Collectors.toSet());
        assertThat(busy).hasSizeGreaterThan(200);
        assertThat(database.column("SELECT shard FROM outbox_shard WHERE owner = " + second.ownership.member()))
                .extracting(Integer::valueOf)
                .noneMatch(busy::contains);
        intake.settle(taken);
        settleDown();
        assertThat(first.ownership.size()).isEqualTo(128);
        assertThat(second.ownership.size()).isEqualTo(128);
        intake.close();
    }

    @Test
    void leavingGivesEverythingToTheOthersAtOnce() {
        Member first = new Member("first");
        Member second = new Member("second");
        settleDown();
        first.membership.leave();
        members.remove(first);
        second.tick();
        assertThat(second.ownership.size()).isEqualTo(256);
        assertThat(database.number("SELECT max(unclean) FROM outbox_shard")).isZero();
    }

    @Test
    void leavingSucceedsOverANewConnectionIfTheOldOneIsBroken() {
        Member first = new Member("first");
        database.endSessions();
        first.membership.leave();
        members.remove(first);
        assertThat(first.ownedInTheTable()).isZero();
        assertThat(database.number("SELECT count(*) FROM outbox_relay")).isZero();
        assertThat(database.number("SELECT count(*) FROM outbox_shard WHERE owner IS NOT NULL"))
                .isZero();
    }

    @Test
    void whoWantsNoShareGivesItsOwnAway() {
        Member first = new Member("first");
        Member second = new Member("second");
        settleDown();
        Membership resting = first.membership;
        resting.wants(false);
        settleDown();
        assertThat(first.ownership.size()).isZero();
        assertThat(second.ownership.size()).isEqualTo(256);
        resting.wants(true);
        settleDown();
        assertThat(first.ownership.size()).isEqualTo(128);
    }

    /** Lets all members tick in turn until nothing moves any more. */
    private void settleDown() {
        for (int i = 0; i < 4; i++) {
            members.forEach(Member::tick);
        }
    }
}
