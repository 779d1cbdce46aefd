// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.jdbc.OrderedFeed;
import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.Feed;
import io.postrider.relay.Intake;
import io.postrider.relay.Membership;
import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * What Postrider relies on wherever its tables are: what was committed is read back byte for byte up to the limits, what was
 * rolled back is never seen.
 *
 * <pre>{@code
 * class MyTablesTest extends TableContract {
 *     @Override
 *     protected DataSource dataSource() { return MyDatabase.empty(); }
 *
 *     @Override
 *     protected TableNames tables() { return new TableNames("messaging"); }
 * }
 * }</pre>
 *
 * <p>The tables are made by the contract, so the user of the data source must be allowed to.
 */
public abstract class TableContract {
    private DataSource source = new PGSimpleDataSource();
    private JdbcOutbox outbox = JdbcOutbox.of(source);

    /** For subclasses. */
    protected TableContract() {}

    /** An empty database, asked for once per test. */
    protected abstract DataSource dataSource();

    /** Where the tables shall be. */
    protected TableNames tables() {
        return TableNames.ofDefaults();
    }

    @BeforeEach
    final void migrate() {
        source = dataSource();
        Schema.of(source, tables()).apply(SchemaMode.MIGRATE);
        outbox = JdbcOutbox.of(source).withTables(tables());
    }

    @Test
    final void whatWasMigratedIsValidAndMayBeMigratedAgain() {
        Schema.of(source, tables()).apply(SchemaMode.VALIDATE);
        Schema.of(source, tables()).apply(SchemaMode.MIGRATE);
        Schema.of(source, tables()).apply(SchemaMode.VALIDATE);
    }

    @Test
    final void anEventIsReadBackAsItWasAppended() {
        OutboxEvent event = OutboxEvent.of("orders", "OrderPlaced")
                .aggregate("Order", "ö-1")
                .key("kéy '\"\\ \uD83D\uDE00")
                .header("a", "quote \" backslash \\ emoji \uD83D\uDE00")
                .payload(new byte[] {0, 127, -128, -1}, "application/octet-stream")
                .occurredAt(Instant.parse("2024-02-29T23:59:59.123456Z"))
                .maxAttempts(7)
                .build();
        assertReadBack(event);
    }

    @Test
    final void noPayloadAndAnEmptyOneAreNotTheSame() {
        assertReadBack(OutboxEvent.of("s", "T").key("a").tombstone().build());
        assertReadBack(OutboxEvent.of("s", "T").key("b").payload(new byte[0]).build());
    }

    @Test
    final void anEventAtAllItsLimitsIsReadBack() {
        byte[] payload = new byte[JdbcOutbox.DEFAULT_MAX_PAYLOAD];
        new Random(1).nextBytes(payload);
        OutboxEvent.Builder event = OutboxEvent.of("s".repeat(128), "T".repeat(256))
                .key("k".repeat(512))
                .payload(payload);
        for (int i = 0; i < 64; i++) {
            event.header("h" + i, "v".repeat(4096));
        }
        assertReadBack(event.build());
    }

    @Test
    final void anEventBeyondALimitIsRefusedBeforeAnythingIsWritten() {
        assertRefused(OutboxEvent.of("s".repeat(129), "T"), "stream");
        assertRefused(OutboxEvent.of("s", "T".repeat(257)), "type");
        assertRefused(OutboxEvent.of("s", "T").key("k".repeat(513)), "key");
        assertRefused(OutboxEvent.of("s", "T").header("h", "v".repeat(4097)), "header");
        OutboxEvent tooLarge = OutboxEvent.of("s", "T")
                .payload(new byte[JdbcOutbox.DEFAULT_MAX_PAYLOAD + 1])
                .build();
        assertThatThrownBy(() -> append(tooLarge))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("payload");
        assertThat(readBack()).isEmpty();
    }

    @Test
    final void eventsOfOneTransactionKeepTheirOrder() {
        List<OutboxEvent> events = Arrays.asList(
                OutboxEvent.of("s", "A").key("k").build(),
                OutboxEvent.of("s", "B").key("k").build(),
                OutboxEvent.of("s", "C").key("k").build());
        outbox.transact(tx -> tx.append(events));
        assertThat(readBack().stream().map(OutboxEvent::type)).containsExactly("A", "B", "C");
    }

    @Test
    final void whatIsRolledBackIsNeverSeen() throws Exception {
        try (Connection connection = source.getConnection()) {
            connection.setAutoCommit(false);
            outbox.on(connection).append(OutboxEvent.of("s", "Kept").key("k").build());
            Savepoint savepoint = connection.setSavepoint();
            outbox.on(connection).append(OutboxEvent.of("s", "Gone").key("k").build());
            connection.rollback(savepoint);
            connection.commit();
            outbox.on(connection).append(OutboxEvent.of("s", "Gone").key("k").build());
            connection.rollback();
        }
        assertThat(readBack().stream().map(OutboxEvent::type)).containsExactly("Kept");
    }

    @Test
    final void outsideATransactionNothingIsAppended() throws Exception {
        try (Connection connection = source.getConnection()) {
            assertThatThrownBy(() -> outbox.on(connection)
                            .append(OutboxEvent.of("s", "T").key("k").build()))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("No transaction is open");
        }
        assertThat(readBack()).isEmpty();
    }

    @Test
    final void theSameEventIsAppendedOnce() {
        OutboxEvent event =
                OutboxEvent.of("s", "T").id(UUID.randomUUID()).key("k").build();
        append(event);
        append(event);
        assertThat(readBack()).hasSize(1);
    }

    @Test
    final void anEventIsNotReadBeforeItsTime() {
        append(OutboxEvent.of("s", "Later").key("k").delay(Duration.ofHours(1)).build());
        append(OutboxEvent.of("s", "Now").key("k").build());
        assertThat(readBack().stream().map(OutboxEvent::type)).containsExactly("Now");
    }

    @Test
    final void writersInOtherLanguagesMayLeaveOutWhatHasADefault() throws Exception {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.executeUpdate(
                    "INSERT INTO " + tables().event() + " (stream, event_type) VALUES ('s', 'Foreign')");
        }
        List<OutboxEvent> read = readBack();
        assertThat(read).hasSize(1);
        assertThat(read.get(0).type()).isEqualTo("Foreign");
        assertThat(read.get(0).key()).isEmpty();
        assertThat(read.get(0).payloadSize()).isZero();
    }

    private void append(OutboxEvent event) {
        outbox.transact(tx -> tx.append(event));
    }

    private void assertReadBack(OutboxEvent event) {
        append(event);
        List<OutboxEvent> read = readBack();
        assertThat(read).hasSize(1);
        assertThat(read.get(0).payload()).isEqualTo(event.payload());
        assertThat(read.get(0))
                .usingRecursiveComparison()
                .ignoringFields("payload")
                .isEqualTo(event);
    }

    private void assertRefused(OutboxEvent.Builder event, String what) {
        assertThatThrownBy(() -> append(event.build()))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining(what);
    }

    /** All that may be sent; it is gone then. */
    private List<OutboxEvent> readBack() {
        Membership membership = OrderedFeed.builder(source)
                .tables(tables())
                .lease(Duration.ofMinutes(5))
                .build()
                .join(new Feed.Joining("contract", 1, false));
        try (Intake intake = membership.intake(0)) {
            List<Delivery> taken =
                    intake.take(Demand.of(1000, Long.MAX_VALUE, Set.of())).deliveries();
            if (!taken.isEmpty()) {
                intake.settle(taken);
            }
            return taken.stream().map(Delivery::event).toList();
        } finally {
            membership.leave();
        }
    }
}
