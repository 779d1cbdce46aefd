// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static io.postrider.jdbc.Claimant.STREAM;
import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.relay.Delivery;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is written about a leased row is written by its lessee, under the revision of its claim, or not at all. */
class LesseeRaceTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private Claimant one;
    private Claimant two;
    private long id;
    private List<Delivery> claimed;

    @BeforeEach
    void claim() {
        database.clear();
        one = Claimant.joining(database, "one");
        two = Claimant.joining(database, "two");
        id = database.event(STREAM, "k");
        claimed = one.claim();
    }

    @AfterEach
    void close() {
        one.close();
        two.close();
    }

    @Test
    void theLesseeJudges() {
        assertThat(one.retry(claimed)).containsExactly(id);
        assertThat(database.row(id, "status, revision, attempt_count, holds, last_error_code, locked_by IS NULL"))
                .isEqualTo("WAITING,2,1,f,BUSY,t");
        assertThat(database.number("SELECT count(*) FROM outbox_attempt")).isEqualTo(1);
        assertThat(one.retry(claimed)).as("once").isEmpty();
    }

    @Test
    void aDeadEventHoldsNobodyAndStopsAStreamThatStopsThen() {
        database.execute("UPDATE outbox_stream SET on_dead = 'STOP_STREAM'");
        assertThat(one.dead(claimed)).containsExactly(id);
        assertThat(database.row(id, "status, holds")).isEqualTo("DEAD,f");
        assertThat(database.column("SELECT paused_by FROM outbox_stream")).containsExactly("postrider");
    }

    @Test
    void afterItsLeaseNobodyJudgesOrExtends() {
        runOut();
        String before = row();
        assertThat(one.retry(claimed)).isEmpty();
        assertThat(one.extend(claimed)).isEmpty();
        assertThat(row()).isEqualTo(before);
    }

    /** Such as after an outage of the database: it has ended nobody. */
    @Test
    void afterItsLeaseWhatNobodyHasClaimedIsGivenBackAndNoSuspect() {
        runOut();
        one.release(claimed);
        assertThat(database.row(id, "status, revision, locked_by IS NULL")).isEqualTo("PENDING,1,t");
        assertThat(two.claim()).hasSize(1);
        assertThat(database.row(id, "unclean_count")).isEqualTo("0");
    }

    @Test
    void afterASecondClaimTheFirstLesseeChangesNothing() {
        runOut();
        two.claim();
        assertUnwritable();
    }

    /** The same process, and the lease is alive: only the revision tells the old claim from the new one. */
    @Test
    void afterASecondClaimByItselfTheFirstClaimChangesNothing() {
        runOut();
        one.claim();
        assertUnwritable();
        settlesNothing();
    }

    @Test
    void whoIsNotTheLesseeChangesNothing() {
        String before = row();
        assertThat(two.retry(claimed)).isEmpty();
        assertThat(two.extend(claimed)).isEmpty();
        two.release(claimed);
        assertThat(row()).isEqualTo(before);
    }

    @Test
    void whoWasDeclaredDeadChangesNothingButSettlesFacts() {
        database.execute("DELETE FROM outbox_relay WHERE id = " + one.member());
        assertUnwritable();
        one.events.settle(claimed);
        assertThat(database.row(id, "id")).isEqualTo("gone");
    }

    @Test
    void afterASecondClaimTheFirstSettlesNothing() {
        runOut();
        two.claim();
        settlesNothing();
    }

    @Test
    void afterItsLeaseASuccessIsAFactAsLongAsNobodyElseHasClaimed() {
        runOut();
        one.events.settle(claimed);
        assertThat(database.row(id, "id")).isEqualTo("gone");
        assertThat(database.number("SELECT count(*) FROM outbox_history WHERE settled_by = 'one'"))
                .isEqualTo(1);
    }

    @Test
    void aSettleThatWaitsForASecondClaimFindsNothing() throws Exception {
        runOut();
        try (OpenTransaction claiming = database.begin()) {
            assertThat(two.in(claiming).claim()).hasSize(1);
            Background<Boolean> settling = Background.start(() -> {
                one.events.settle(claimed);
                return true;
            });
            claiming.awaitSomebodyBlocked();
            claiming.commit();
            settling.get();
        }
        assertThat(database.row(id, "locked_by, revision")).isEqualTo(two.member() + ",2");
    }

    /** A claim that began when the lease had run out, seen by one who began before. */
    @Test
    void aVerdictThatWaitsForASecondClaimFindsNothing() throws Exception {
        try (OpenTransaction claiming = database.begin()) {
            claiming.execute("UPDATE outbox_event SET revision = revision + 1, locked_by = " + two.member());
            Background<Set<Long>> judging = Background.start(() -> one.dead(claimed));
            claiming.awaitSomebodyBlocked();
            claiming.commit();
            assertThat(judging.get()).isEmpty();
        }
        assertThat(database.row(id, "status, locked_by, revision")).isEqualTo("WAITING," + two.member() + ",2");
    }

    @Test
    void anExtensionThatWaitsForASecondClaimOfTheSameProcessFindsNothing() throws Exception {
        try (OpenTransaction claiming = database.begin()) {
            claiming.execute("UPDATE outbox_event SET revision = revision + 1");
            Background<Set<Long>> extending = Background.start(() -> one.extend(claimed));
            claiming.awaitSomebodyBlocked();
            claiming.commit();
            assertThat(extending.get()).isEmpty();
        }
        assertThat(database.row(id, "due_at < clock_timestamp() + interval '6 min'"))
                .isEqualTo("t");
    }

    @Test
    void aReleaseThatWaitsForASecondClaimOfTheSameProcessFindsNothing() throws Exception {
        try (OpenTransaction claiming = database.begin()) {
            claiming.execute("UPDATE outbox_event SET revision = revision + 1");
            Background<Boolean> releasing = Background.start(() -> {
                one.release(claimed);
                return true;
            });
            claiming.awaitSomebodyBlocked();
            claiming.commit();
            releasing.get();
        }
        assertThat(database.row(id, "status, locked_by")).isEqualTo("WAITING," + one.member());
    }

    @Test
    void whoDeclaresTheLesseeDeadWaitsForItsVerdict() throws Exception {
        try (OpenTransaction judging = database.begin()) {
            assertThat(one.in(judging).retry(claimed)).containsExactly(id);
            Background<Boolean> removing = Background.start(() -> {
                ShardStore.Peer peer =
                        two.place.tick(two.member(), ShardStore.Wants.CLAIMS, Party.QUIET, Set.of()).peers().stream()
                                .filter(each -> each.id() == one.member())
                                .findFirst()
                                .orElseThrow();
                return two.place.declareDead(peer, true);
            });
            judging.awaitSomebodyBlocked();
            assertThat(removing.isDone()).isFalse();
            judging.commit();
            assertThat(removing.get()).isTrue();
        }
    }

    @Test
    void itsRenewalDoesNotWaitForItsVerdict() throws Exception {
        try (OpenTransaction judging = database.begin()) {
            assertThat(one.in(judging).retry(claimed)).containsExactly(id);
            assertThat(one.place
                            .tick(one.member(), ShardStore.Wants.CLAIMS, Party.QUIET, Set.of(STREAM))
                            .renewed())
                    .isTrue();
        }
    }

    @Test
    void anExtensionKeepsTheRevisionAndMovesTheEnd() {
        assertThat(one.extend(claimed)).containsExactly(id);
        assertThat(database.row(id, "status, revision, due_at > clock_timestamp() + interval '59 min'"))
                .isEqualTo("WAITING,1,t");
        assertThat(one.retry(claimed)).containsExactly(id);
    }

    @Test
    void whatIsReleasedIsAsIfItHadNeverBeenClaimedButForItsRevision() {
        one.release(claimed);
        assertThat(database.row(id, "status, revision, attempt_count, unclean_count, locked_by IS NULL"))
                .isEqualTo("PENDING,1,0,0,t");
        assertThat(one.retry(claimed)).as("it has no lease any more").isEmpty();
        one.events.settle(claimed);
        assertThat(database.row(id, "id")).as("sent none the less").isEqualTo("gone");
    }

    @Test
    void whatWasForgottenIsReleasedAndWhatIsKnownIsNot() {
        long forgotten = database.event(STREAM, "l");
        one.claim();
        long ofAnother = database.event(STREAM, "m");
        two.claim();
        one.place.releaseAllBut(one.member(), List.of(id));
        assertThat(database.row(forgotten, "status, unclean_count")).isEqualTo("PENDING,0");
        assertThat(database.row(id, "status")).isEqualTo("WAITING");
        assertThat(database.row(ofAnother, "status")).isEqualTo("WAITING");
    }

    private void assertUnwritable() {
        String before = row();
        assertThat(one.retry(claimed)).isEmpty();
        assertThat(one.dead(claimed)).isEmpty();
        assertThat(one.extend(claimed)).isEmpty();
        one.release(claimed);
        assertThat(row()).isEqualTo(before);
        assertThat(database.number("SELECT count(*) FROM outbox_attempt")).isZero();
    }

    private void settlesNothing() {
        String before = row();
        one.events.settle(claimed);
        assertThat(row()).isEqualTo(before);
    }

    private String row() {
        return database.row(id, "status, revision, locked_by, due_at, attempt_count, xmin");
    }

    private void runOut() {
        database.execute("UPDATE outbox_event SET due_at = clock_timestamp() WHERE id = " + id);
    }
}
