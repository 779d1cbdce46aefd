// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.relay.Demand;
import io.postrider.relay.Feed;
import io.postrider.relay.Intake;
import io.postrider.relay.Membership;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A relay whose lease ran out for a moment, without anybody taking over. */
class LostLeaseTest {
    private static final Membership.Report REPORT = new Membership.Report(0, 0, Set.of());

    private final TestDatabase database = TestDatabase.migrated();
    private final Membership membership = OrderedFeed.of(database.dataSource()).join(new Feed.Joining("r", 1, false));
    private final Intake intake = membership.intake(0);

    @BeforeEach
    void append() {
        JdbcOutbox.of(database.dataSource())
                .transact(tx -> tx.append(OutboxEvent.of("s", "T").key("k").build()));
    }

    @AfterEach
    void leave() {
        intake.close();
        membership.leave();
    }

    @Test
    void withoutALeaseNothingIsRead() {
        endLease();
        assertThat(intake.take(demand()).deliveries()).isEmpty();
    }

    @Test
    void afterTheNextRenewalsItReadsEverythingAgain() {
        endLease();
        intake.take(demand());
        membership.tick(REPORT);
        membership.tick(REPORT);
        assertThat(intake.take(demand()).deliveries()).hasSize(1);
        assertThat(database.number("SELECT count(*) FROM outbox_shard s JOIN outbox_relay r ON r.id = s.owner"))
                .isEqualTo(256);
    }

    @Test
    void shardsThatItDoesNotKnowToBeItsOwnAreTakenAnew() {
        // As if the answer to a take had been lost: the table says that they are its, and it does not know.
        database.execute("UPDATE outbox_shard SET epoch = epoch + 1");
        membership.tick(REPORT);
        membership.tick(REPORT);
        assertThat(intake.take(demand()).deliveries()).hasSize(1);
    }

    private void endLease() {
        database.execute("UPDATE outbox_relay SET lease_until = clock_timestamp() - interval '1 second'");
    }

    private static Demand demand() {
        return Demand.of(100, 1 << 20, Set.of());
    }
}
