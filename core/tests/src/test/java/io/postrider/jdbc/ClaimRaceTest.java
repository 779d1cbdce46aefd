// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static io.postrider.jdbc.Claimant.STREAM;
import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.relay.Delivery;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who claims a row first has it alone, until its lease has run out. */
class ClaimRaceTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private Claimant one;
    private Claimant two;

    @BeforeEach
    void join() {
        database.clear();
        one = Claimant.joining(database, "one");
        two = Claimant.joining(database, "two");
    }

    @AfterEach
    void close() {
        one.close();
        two.close();
    }

    @Test
    void aClaimLeasesARowAndRaisesItsRevision() {
        long id = database.event(STREAM, "k");
        String before = database.column("SELECT clock_timestamp()").get(0);
        Delivery claimed = one.claim().get(0);
        assertThat(claimed.id()).isEqualTo(id);
        assertThat(claimed.revision()).isEqualTo(1);
        assertThat(database.row(
                        id,
                        "status, revision, locked_by, holds, attempt_count, unclean_count,"
                                + " due_at BETWEEN timestamptz '" + before
                                + "' + interval '300 s' AND clock_timestamp() + interval '300 s'"))
                .isEqualTo("WAITING,1," + one.member() + ",f,0,0,t");
        assertThat(one.claim()).isEmpty();
        assertThat(two.claim()).isEmpty();
    }

    @Test
    void whatAnotherIsClaimingIsPassedOverWithoutWaiting() throws Exception {
        long first = database.event(STREAM, "k");
        try (OpenTransaction claiming = database.begin()) {
            assertThat(Party.ids(one.in(claiming).claim())).containsExactly(first);
            long second = database.event(STREAM, "k");
            assertThat(Party.ids(two.claim())).containsExactly(second);
            claiming.commit();
        }
        assertThat(two.claim()).isEmpty();
    }

    /** It is locked by another when it is read, and changed when its lock is had. */
    @Test
    void whatWasClaimedSinceTheSnapshotIsNotClaimedAgain() throws Exception {
        List<Long> ids = IntStream.range(0, 200)
                .mapToObj(i -> database.event(STREAM, "k" + i))
                .toList();
        List<Background<List<Delivery>>> all = new ArrayList<>();
        List<Claimant> claimants = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            claimants.add(Claimant.joining(database, "c" + i));
        }
        for (Claimant each : claimants) {
            all.add(Background.start(() -> {
                List<Delivery> mine = new ArrayList<>();
                List<Delivery> some = each.claim(7);
                while (!some.isEmpty()) {
                    mine.addAll(some);
                    some = each.claim(7);
                }
                return mine;
            }));
        }
        List<Long> got = new ArrayList<>();
        for (Background<List<Delivery>> each : all) {
            got.addAll(Party.ids(each.get()));
        }
        // Whoever passed over what another had locked and then lost interest leaves it to the next.
        got.addAll(Party.ids(one.claim()));
        assertThat(got).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(database.number("SELECT count(*) FROM outbox_event WHERE revision <> 1"))
                .isZero();
        claimants.forEach(Claimant::close);
    }

    @Test
    void aClaimBringsNoMoreThanItWasAskedFor() {
        IntStream.range(0, 300).forEach(i -> database.event(STREAM, "k" + i));
        IntStream.range(0, 50)
                .forEach(i -> database.event(
                        STREAM, "k" + i, "status = 'WAITING', due_at = clock_timestamp() - interval '1 s'"));
        for (int rows : new int[] {1, 5, 60}) {
            assertThat(one.claim(rows)).hasSize(rows);
        }
        assertThat(database.number("SELECT count(*) FROM outbox_event WHERE locked_by IS NOT NULL"))
                .isEqualTo(66);
        assertThat(one.find(100, 3).leased()).as("of one byte each").hasSize(3);
        assertThat(one.find(100, 0).leased()).as("one always").hasSize(1);
    }

    @Test
    void whatIsDueGoesFirstAndWhatIsNotDueStays() {
        database.event(STREAM, "later", "status = 'WAITING', due_at = clock_timestamp() + interval '1 h'");
        database.event(STREAM, "pending");
        long due = database.event(STREAM, "due", "status = 'WAITING', due_at = clock_timestamp() - interval '1 h'");
        database.event(STREAM, "dead", "status = 'DEAD'");
        assertThat(Party.ids(one.claim(1))).containsExactly(due);
        assertThat(one.claim()).hasSize(1);
        assertThat(one.find(10, 10).nextDue().orElseThrow()).isBetween(Duration.ofMinutes(4), Duration.ofMinutes(5));
    }

    @Test
    void aLeaseThatRanOutIsClaimedByTheNextAndCounted() {
        long id = database.event(STREAM, "k");
        one.claim();
        runOut(id);
        Delivery second = two.claim().get(0);
        assertThat(second.revision()).isEqualTo(2);
        assertThat(second.attempts()).isZero();
        assertThat(database.row(id, "locked_by, unclean_count, attempt_count")).isEqualTo(two.member() + ",1,0");
    }

    @Test
    void whatWasReleasedOrJudgedIsClaimedWithoutBeingCounted() {
        long id = database.event(STREAM, "k");
        one.release(one.claim());
        one.retry(one.claim());
        database.execute("UPDATE outbox_event SET due_at = clock_timestamp()");
        assertThat(one.claim().get(0).attempts()).isEqualTo(1);
        assertThat(database.row(id, "unclean_count")).isEqualTo("0");
    }

    @Test
    void whatOneEndLeftBehindGoesInASmallGroupAndWhatTwoLeftBehindAlone() {
        List<Long> once = leftBehind(20, 0);
        List<Long> twice = leftBehind(3, 1);
        long tooOften = leftBehind(1, 2).get(0);
        long due = database.event(STREAM, "due", "status = 'WAITING', due_at = clock_timestamp() - interval '1 s'");
        long pending = database.event(STREAM, "pending");

        assertThat(Party.ids(claim(LeftBehind.NONE))).containsExactlyInAnyOrder(tooOften, due, pending);
        assertThat(Party.ids(claim(LeftBehind.ONCE)))
                .hasSize(LeftBehind.ONCE.most())
                .isSubsetOf(once);
        assertThat(Party.ids(claim(LeftBehind.TWICE))).hasSize(1).isSubsetOf(twice);
        assertThat(Party.ids(claim(LeftBehind.ONCE))).hasSize(4).isSubsetOf(once);

        assertThat(database.number(
                        "SELECT count(*) FROM outbox_event WHERE unclean_count = 1 AND locked_by = " + one.member()))
                .isEqualTo(20);
        assertThat(database.number("SELECT count(*) FROM outbox_event WHERE unclean_count = 1 AND locked_by = 99"))
                .as("what nobody has claimed counts as before")
                .isEqualTo(2);
    }

    @Test
    void aSuspectThatIsGivenBackStaysOne() {
        long id = leftBehind(1, 0).get(0);
        one.release(claim(LeftBehind.ONCE));
        assertThat(database.row(id, "unclean_count, locked_by IS NULL")).isEqualTo("1,t");
        assertThat(claim(LeftBehind.NONE)).isEmpty();
        one.release(claim(LeftBehind.ONCE));
        assertThat(database.row(id, "unclean_count")).isEqualTo("1");
        claim(LeftBehind.ONCE);
        one.place.releaseAllBut(one.member(), List.of());
        assertThat(claim(LeftBehind.NONE)).isEmpty();
        assertThat(Party.ids(claim(LeftBehind.ONCE))).containsExactly(id);
    }

    @Test
    void whatHasFailedHasEndedNobody() {
        long id = leftBehind(1, 0).get(0);
        one.retry(claim(LeftBehind.ONCE));
        assertThat(database.row(id, "unclean_count, attempt_count")).isEqualTo("0,1");
    }

    @Test
    void whoHasNoPlaceClaimsNothing() {
        database.event(STREAM, "k");
        database.execute("UPDATE outbox_relay SET lease_until = clock_timestamp() WHERE id = " + one.member());
        assertThat(one.claim()).isEmpty();
        database.execute("DELETE FROM outbox_relay WHERE id = " + two.member());
        assertThat(two.claim()).isEmpty();
    }

    @Test
    void neitherAPausedNorAnOrderedStreamNorOneOfAnotherGroupIsClaimed() {
        database.event(STREAM, "k");
        database.execute("UPDATE outbox_stream SET paused_at = clock_timestamp()");
        assertThat(one.claim()).isEmpty();
        database.execute("UPDATE outbox_stream SET paused_at = NULL, mode = 'ORDERED'");
        assertThat(one.claim()).isEmpty();
        database.execute("UPDATE outbox_stream SET mode = 'COMPETING', relay_group = 'others'");
        assertThat(one.claim()).isEmpty();
        database.execute("UPDATE outbox_stream SET relay_group = 'default'");
        assertThat(one.claim()).hasSize(1);
    }

    @Test
    void anOrderedRelayTakesNothingOfACompetingStreamNorFreesItsLeases() {
        long pending = database.event(STREAM, "k");
        long ordered = database.event("ordered", "k");
        long leased = database.event(STREAM, "k");
        // Publish on commit left one whose lease ran out: the owner of the shard frees the leases there.
        database.execute("UPDATE outbox_event SET status = 'WAITING', locked_by = 99, holds = stream = 'ordered',"
                + " due_at = clock_timestamp() - interval '1 s' WHERE id IN (" + leased + ", " + ordered + ")");
        try (Party owner = Party.owning(database, "owner")) {
            assertThat(owner.readIds()).containsExactly(ordered);
        }
        assertThat(database.row(ordered, "status")).isEqualTo("PENDING");
        assertThat(database.row(leased, "status, locked_by")).isEqualTo("WAITING,99");
        assertThat(Party.ids(one.claim())).containsExactlyInAnyOrder(pending, leased);
        assertThat(database.row(leased, "unclean_count")).isEqualTo("1");
    }

    private List<Delivery> claim(LeftBehind suspects) {
        return one.find(1000, Long.MAX_VALUE, suspects).leased().stream()
                .map(ClaimStatements.Leased::delivery)
                .toList();
    }

    /** Of one whose lease has run out, after as many others of theirs. */
    private static List<Long> leftBehind(int events, int before) {
        return IntStream.range(0, events)
                .mapToObj(i -> database.event(
                        STREAM,
                        "k" + i,
                        "status = 'WAITING', locked_by = 99, unclean_count = " + before
                                + ", due_at = clock_timestamp() - interval '1 s'"))
                .toList();
    }

    private static void runOut(long id) {
        database.execute("UPDATE outbox_event SET due_at = clock_timestamp() WHERE id = " + id);
    }
}
