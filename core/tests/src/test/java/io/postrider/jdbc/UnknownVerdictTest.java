// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.internal.LeaseSql;
import io.postrider.ops.Undelivered;
import io.postrider.relay.Bell;
import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.Outcome;
import io.postrider.relay.Verdict;
import io.postrider.table.TableNames;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What may have had its effect is noted by whoever has the right to it, and is sent by nobody any more. */
class UnknownVerdictTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final Outcome.Unknown CUT = new Outcome.Unknown("CUT", "reply lost");
    private static final String STATE =
            "status, holds, revision, attempt_count, coalesce(locked_by::text, 'free'), last_error_code";
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
    void itHoldsItsKeyAndIsNeverReadAgain() {
        long id = database.event("s", "k");
        long behind = database.event("s", "k");
        long other = database.event("s", "l");
        assertThat(judge(owner.read().subList(0, 1))).containsExactly(id);
        assertThat(database.row(id, STATE)).isEqualTo("UNKNOWN,t,1,1,free,CUT");
        assertThat(owner.readIds()).containsExactly(other);
        database.execute("UPDATE outbox_event SET due_at = due_at - interval '9 days' WHERE id = " + id);
        assertThat(owner.readIds()).containsExactly(other).doesNotContain(behind);
        assertThat(database.number("SELECT count(*) FROM outbox_attempt WHERE error_code = 'CUT'"))
                .isEqualTo(1);
        assertThat(Undelivered.of(database.dataSource())
                        .find(null, null, 0, 10)
                        .get(0)
                        .state())
                .isEqualTo(Undelivered.State.UNKNOWN);
    }

    @Test
    void itHoldsItsKeyAlsoWhereAStreamSkipsItsDead() {
        database.execute("INSERT INTO outbox_stream (stream, relay_group, on_dead) VALUES ('s', 'default', 'SKIP')");
        long id = database.event("s", "k");
        database.event("s", "k");
        judge(owner.read().subList(0, 1));
        assertThat(database.row(id, "status, holds")).isEqualTo("UNKNOWN,t");
        assertThat(owner.readIds()).isEmpty();
    }

    @Test
    void aStreamThatStopsForItsDeadGoesOn() {
        database.execute(
                "INSERT INTO outbox_stream (stream, relay_group, on_dead) VALUES ('s', 'default', 'STOP_STREAM')");
        database.event("s", "k");
        long other = database.event("s", "l");
        judge(owner.read().subList(0, 1));
        assertThat(owner.readIds()).containsExactly(other);
    }

    @Test
    void aRelayThatWasReplacedDoesNotSaySo() {
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        database.execute("DELETE FROM outbox_relay");
        try (Party successor = Party.owning(database, "successor")) {
            assertThat(judge(taken)).isEmpty();
            assertThat(successor.readIds()).containsExactly(id);
        }
    }

    @Test
    void atItsCommitTheLesseeWritesItAndGivesNothingBack() {
        try (Leases leases = new Leases()) {
            long id = leases.append();
            List<Delivery> taken = leases.take();
            assertThat(leases.intake.verdict(List.of(new Verdict(taken.get(0), CUT))))
                    .hasSize(1);
            assertThat(database.row(id, STATE)).isEqualTo("UNKNOWN,t,1,1,free,CUT");
            assertThat(leases.intake.size()).isZero();
            assertThat(owner.readIds()).isEmpty();
        }
    }

    @Test
    void aLesseeWhoseLeaseRanOutLeavesItToTheOwner() {
        try (Leases leases = new Leases()) {
            long id = leases.append();
            List<Delivery> taken = leases.take();
            database.execute("UPDATE outbox_event SET due_at = clock_timestamp() - interval '1 s'");
            assertThat(leases.intake.verdict(List.of(new Verdict(taken.get(0), CUT))))
                    .isEmpty();
            assertThat(owner.readIds()).containsExactly(id);
        }
    }

    @Test
    void whatChangedWhileTheLesseeWaitedForItsRowIsNotTouched() throws Exception {
        try (Leases leases = new Leases();
                OpenTransaction other = database.begin()) {
            long id = leases.append();
            List<Delivery> taken = leases.take();
            other.execute("UPDATE outbox_event SET status = 'PENDING', holds = false, locked_by = NULL, revision = 7");
            Background<List<Verdict>> judging =
                    Background.start(() -> leases.intake.verdict(List.of(new Verdict(taken.get(0), CUT))));
            other.awaitSomebodyBlocked();
            other.commit();
            assertThat(judging.get()).isEmpty();
            assertThat(database.row(id, "status, revision")).isEqualTo("PENDING,7");
        }
    }

    private Set<Long> judge(List<Delivery> taken) {
        return owner.events
                .verdict(taken.stream().map(each -> new Verdict(each, CUT)).toList())
                .written();
    }

    /** A process whose relay sends what it writes at its commit. */
    private static final class Leases implements AutoCloseable {
        final Party relay = Party.joining(database, "writer");
        final JdbcOutbox outbox = JdbcOutbox.of(database.dataSource()).withLease(Duration.ofMinutes(1));
        final LeasedIntake intake;

        Leases() {
            relay.ownership.renewed(Long.MAX_VALUE / 2);
            Session session = new Session(database.dataSource(), Duration.ofSeconds(30));
            LeaseStatements leases = new LeaseStatements(
                    session,
                    new LeaseSql(TableNames.ofDefaults()),
                    new EventStatements(session, Party.SQL, Party.settings("default"), "writer", relay.ownership),
                    relay.ownership,
                    () -> 0);
            intake = new LeasedIntake(leases, relay.ownership, () -> 0, () -> {});
            outbox.bell().onRing(new Bell.Hearer() {
                @Override
                public void rung() {}

                @Override
                public OptionalLong lessee(OutboxEvent event) {
                    return intake.lessee(event);
                }

                @Override
                public void handedOver(List<Bell.Handed> events) {
                    intake.handOver(events);
                }
            });
        }

        long append() {
            outbox.transact(
                    tx -> tx.append(OutboxEvent.of("s", "T").key("k").json("{}").build()));
            return database.number("SELECT max(id) FROM outbox_event");
        }

        List<Delivery> take() {
            return intake.take(Demand.of(10, Long.MAX_VALUE, Set.of())).deliveries();
        }

        @Override
        public void close() {
            intake.close();
            relay.close();
        }
    }
}
