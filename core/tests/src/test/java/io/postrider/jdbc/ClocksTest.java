// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.relay.Demand;
import io.postrider.relay.Feed;
import io.postrider.relay.Intake;
import io.postrider.relay.Membership;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One clock counts, the database's, wherever the clocks of writers and relays stand. */
class ClocksTest {
    private static final Duration TEN_MINUTES = Duration.ofMinutes(10);

    @ParameterizedTest
    @ValueSource(ints = {-1, 1})
    void aRelayLivesByTheDatabasesClock(int hoursAhead) {
        TestDatabase database = ahead(hoursAhead);
        JdbcOutbox.of(database.dataSource()).transact(tx -> tx.append(event().build()));
        Membership one = join(database, "one");
        Membership two = join(database, "two");
        for (int i = 0; i < 4; i++) {
            one.tick(Party.QUIET);
            two.tick(Party.QUIET);
        }
        assertThat(database.column("SELECT count(*) FROM outbox_shard s JOIN outbox_relay r ON r.id = s.owner"
                        + " GROUP BY s.owner"))
                .containsExactly("128", "128");
        assertThat(taken(one) + taken(two)).isEqualTo(1);
        one.leave();
        two.leave();
    }

    @Test
    void aDelayIsCountedByTheDatabase() {
        TestDatabase database = ahead(1);
        JdbcOutbox.of(database.dataSource())
                .transact(tx -> tx.append(event().delay(TEN_MINUTES).build()));
        assertThat(dueInSeconds(database)).isBetween(590L, 600L);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1})
    void anExpiryIsCountedAndJudgedByTheDatabase(int hoursAhead) {
        TestDatabase database = ahead(hoursAhead);
        JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());
        outbox.transact(tx -> tx.append(event().expiresIn(TEN_MINUTES).build()));
        // By the clock of this process it is too late, or there is time enough; by the database's it is the other way
        // round.
        Instant halfAnHourOn = Instant.now().plusSeconds(hoursAhead * 1800L);
        database.event("s", "j", "expires_at = '" + halfAnHourOn + "'");
        Membership relay = join(database, "relay");
        relay.tick(Party.QUIET);
        assertThat(taken(relay)).isEqualTo(hoursAhead < 0 ? 2 : 1);
        assertThat(database.column("SELECT status FROM outbox_event ORDER BY id"))
                .containsExactly("PENDING", hoursAhead < 0 ? "PENDING" : "DEAD");
        relay.leave();
    }

    @Test
    void aDelayBeginsAtTheAppendAndNotAtTheBeginningOfTheTransaction() throws Exception {
        TestDatabase database = TestDatabase.migrated();
        try (OpenTransaction slow = database.begin()) {
            try (Statement statement = slow.connection().createStatement()) {
                statement.execute("SELECT pg_sleep(0.5)");
            }
            JdbcOutbox.of(database.dataSource())
                    .on(slow.connection())
                    .append(event().delay(TEN_MINUTES).build());
            slow.commit();
        }
        assertThat(database.column("SELECT due_at - created_at > interval '599.7 s' FROM outbox_event"))
                .containsExactly("t");
    }

    @Test
    void aTimeIsTheSameInEveryTimeZone() throws Exception {
        TestDatabase database = TestDatabase.migrated();
        for (String zone : List.of("Asia/Seoul", "Pacific/Honolulu")) {
            try (Connection connection = database.connect();
                    Statement statement = connection.createStatement()) {
                statement.execute("SET TIME ZONE '" + zone + "'");
                connection.setAutoCommit(false);
                JdbcOutbox.of(database.dataSource())
                        .on(connection)
                        .append(event().delay(TEN_MINUTES).build());
                connection.commit();
            }
            assertThat(dueInSeconds(database)).as(zone).isBetween(590L, 600L);
            database.execute("DELETE FROM outbox_event");
        }
    }

    /** As a relay sees it. */
    private static long dueInSeconds(TestDatabase database) {
        Membership membership = join(database, "relay");
        try (Intake intake = membership.intake(0)) {
            return intake.take(Demand.of(10, 1000, Set.of()))
                    .nextDue()
                    .orElse(Duration.ZERO)
                    .toSeconds();
        } finally {
            membership.leave();
        }
    }

    private static int taken(Membership membership) {
        try (Intake intake = membership.intake(0)) {
            return intake.take(Demand.of(10, 1000, Set.of())).deliveries().size();
        }
    }

    private static Membership join(TestDatabase database, String name) {
        return OrderedFeed.of(database.dataSource()).join(new Feed.Joining(name, 1, false));
    }

    private static OutboxEvent.Builder event() {
        return OutboxEvent.of("s", "T").key("k");
    }

    /** A database whose sessions find another clock before the system's own. */
    private static TestDatabase ahead(int hours) {
        TestDatabase database = TestDatabase.migrated();
        database.execute("CREATE SCHEMA clocks; CREATE FUNCTION clocks.clock_timestamp() RETURNS timestamptz VOLATILE"
                + " LANGUAGE sql AS 'SELECT pg_catalog.clock_timestamp() + " + hours + " * interval ''1 hour'''");
        database.execute("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = clocks, pg_catalog, public',"
                + " current_database()); END $$");
        return database;
    }
}
