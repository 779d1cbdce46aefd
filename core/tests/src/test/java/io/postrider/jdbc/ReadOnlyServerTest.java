// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.relay.Bell;
import io.postrider.relay.CommitIntake;
import io.postrider.relay.Demand;
import io.postrider.relay.Feed;
import io.postrider.relay.FeedException;
import io.postrider.relay.Intake;
import io.postrider.relay.Membership;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections that lead to a server which takes no writes, from a pool that hands out what works. */
class ReadOnlyServerTest {
    private static final Membership.Report REPORT = new Membership.Report(0, 0, Set.of());

    private final TestDatabase database = TestDatabase.migrated();
    private final List<Connection> opened = new ArrayList<>();
    private final Deque<Connection> idle = new ArrayDeque<>();
    private boolean demoted;
    // One pass, so that no housekeeping takes connections too.
    private final Membership membership = OrderedFeed.of(pool()).join(new Feed.Joining("r", 1, true));
    private final Intake intake = membership.intake(0);

    @BeforeEach
    void append() {
        JdbcOutbox.of(database.dataSource())
                .transact(tx -> tx.append(OutboxEvent.of("s", "T").key("k").build()));
    }

    @AfterEach
    void leave() throws SQLException {
        intake.close();
        membership.leave();
        for (Connection connection : opened) {
            connection.close();
        }
    }

    @Test
    void nothingIsReadFromItAndTheReasonIsGiven() {
        demoted = true;
        assertThatThrownBy(() -> intake.take(demand()))
                .isInstanceOf(FeedException.class)
                .hasMessageContaining("Could not read events: the server takes no writes")
                .hasMessageContaining("targetServerType=primary");
        assertThat(intake.size()).isZero();
    }

    @Test
    void norIsWhatWasCommittedElsewhereTakenForPassedOver() {
        demoted = true;
        try (CommitIntake commits = membership.commits(() -> {
            throw new IllegalStateException("Passed over");
        })) {
            commits.handOver(List.of(new Bell.Handed(UUID.randomUUID(), 0)));
            assertThatThrownBy(() -> commits.take(demand()))
                    .isInstanceOf(FeedException.class)
                    .hasMessageContaining("the server takes no writes");
        }
    }

    @Test
    void theNextReadGoesToTheServerThatTakesWritesAndFindsItsShardsStillOwned() {
        demoted = true;
        assertThatThrownBy(() -> intake.take(demand())).isInstanceOf(FeedException.class);
        demoted = false;
        assertThat(intake.take(demand()).deliveries()).hasSize(1);
    }

    @Test
    void aConnectionThatRefusesWritesIsEndedAndNotGivenBackToThePool() throws SQLException {
        Connection first = opened.get(0);
        demote(first);
        assertThatThrownBy(() -> membership.tick(REPORT))
                .isInstanceOf(FeedException.class)
                .hasMessageContaining("Could not renew the lease");
        assertThat(first.isClosed()).isTrue();
        membership.tick(REPORT);
        assertThat(intake.take(demand()).deliveries()).hasSize(1);
    }

    private static void demote(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET default_transaction_read_only = on");
        }
    }

    private DataSource pool() {
        return (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (self, method, arguments) -> borrow());
    }

    private Connection borrow() throws SQLException {
        Connection free = idle.poll();
        Connection connection = free == null ? database.connect() : free;
        opened.add(connection);
        if (demoted) {
            demote(connection);
        }
        return (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (self, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        giveBack(connection);
                        return null;
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause() == null ? e : e.getCause();
                    }
                });
    }

    private void giveBack(Connection connection) throws SQLException {
        if (!connection.isClosed()) {
            idle.add(connection);
        }
    }

    private static Demand demand() {
        return Demand.of(100, 1 << 20, Set.of());
    }
}
