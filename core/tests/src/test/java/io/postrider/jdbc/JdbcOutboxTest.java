// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.table.TableNames;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class JdbcOutboxTest extends OutboxRig {
    @Test
    void aCommittedEventIsARowWithExactlyWhatWasAppended() {
        UUID id = UUID.randomUUID();
        outbox.transact(tx -> tx.append(OutboxEvent.of("orders", "OrderPlaced")
                .id(id)
                .aggregate("Order", "4711")
                .key("customer-ü")
                .payload(new byte[] {0, 1, -1, 127, -128, 39, 92}, "application/octet-stream")
                .header("trace", "a\"b\\c")
                .header("ünïcode", "😀")
                .header("empty", "")
                .occurredAt(Instant.parse("2026-01-02T03:04:05.123456Z"))
                .maxAttempts(9)
                .build()));

        assertThat(row("event_id")).isEqualTo(id.toString());
        assertThat(row("stream")).isEqualTo("orders");
        assertThat(row("event_type")).isEqualTo("OrderPlaced");
        assertThat(row("aggregate_type")).isEqualTo("Order");
        assertThat(row("aggregate_id")).isEqualTo("4711");
        assertThat(row("event_key")).isEqualTo("customer-ü");
        assertThat(row("encode(payload, 'hex')")).isEqualTo("0001ff7f80275c");
        assertThat(row("content_type")).isEqualTo("application/octet-stream");
        assertThat(row("headers ->> 'trace'")).isEqualTo("a\"b\\c");
        assertThat(row("headers ->> 'ünïcode'")).isEqualTo("😀");
        assertThat(row("headers = jsonb_build_object('trace', 'a\"b\\c', 'ünïcode', '😀', 'empty', '')"))
                .isEqualTo("t");
        assertThat(row("occurred_at = '2026-01-02T03:04:05.123456Z'")).isEqualTo("t");
        assertThat(row("max_attempts")).isEqualTo("9");
        assertThat(row("status")).isEqualTo("PENDING");
        assertThat(row("holds")).isEqualTo("f");
        assertThat(row("revision")).isEqualTo("0");
        assertThat(row("attempt_count")).isEqualTo("0");
        assertThat(row("clock_timestamp() - created_at < interval '1 minute'")).isEqualTo("t");
    }

    @Test
    void whatIsNotGivenIsNullInTheRow() {
        outbox.transact(tx -> tx.append(OutboxEvent.of("s", "T").build()));
        for (String column :
                List.of("event_key", "aggregate_type", "aggregate_id", "payload", "content_type", "max_attempts")) {
            assertThat(row(column + " IS NULL")).as(column).isEqualTo("t");
        }
        assertThat(row("headers")).isEqualTo("{}");
    }

    @Test
    void anUnkeyedEventKeepsItsAggregate() {
        outbox.transact(tx -> tx.append(
                OutboxEvent.of("s", "T").aggregate("Order", 1).unkeyed().build()));
        assertThat(row("event_key IS NULL AND aggregate_id = '1'")).isEqualTo("t");
    }

    @Test
    void anEmptyPayloadIsNoTombstone() {
        outbox.transact(tx -> tx.append(OutboxEvent.of("s", "T").text("").build()));
        assertThat(row("octet_length(payload)")).isEqualTo("0");
    }

    @Test
    void manyEventsGoInOneBatchAndKeepTheirOrder() throws SQLException {
        List<OutboxEvent> events = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            events.add(event("k" + i));
            expected.add("k" + i);
        }
        List<String> calls = new ArrayList<>();
        try (Connection connection = transaction()) {
            outbox.on(counting(connection, calls)).append(events);
            connection.commit();
        }
        assertThat(keys()).containsExactlyElementsOf(expected);
        assertThat(calls).containsExactly("prepareStatement", "executeBatch");
    }

    @Test
    void theSameEventAppendedTwiceIsOneRowAndKeepsItsFirstContent() {
        UUID id = UUID.randomUUID();
        OutboxEvent first = OutboxEvent.of("s", "T").id(id).key("first").build();
        OutboxEvent second = OutboxEvent.of("s", "T").id(id).key("second").build();
        outbox.transact(tx -> tx.append(first));
        outbox.transact(tx -> tx.append(second));
        outbox.transact(tx -> tx.append(List.of(event("other"), first)));
        assertThat(keys()).containsExactly("first", "other");
    }

    @Test
    void aDelayIsCountedByTheDatabase() {
        outbox.transact(tx ->
                tx.append(OutboxEvent.of("s", "T").delay(Duration.ofMinutes(10)).build()));
        assertThat(row("status")).isEqualTo("WAITING");
        assertThat(row("holds")).isEqualTo("f");
        assertThat(row("due_at - created_at BETWEEN interval '599 s' AND interval '601 s'"))
                .isEqualTo("t");
    }

    @Test
    void noDelayIsNoWaiting() {
        outbox.transact(
                tx -> tx.append(OutboxEvent.of("s", "T").delay(Duration.ZERO).build()));
        assertThat(row("status")).isEqualTo("PENDING");
    }

    @Test
    void aTimeAheadOfTheDatabasesClockWaitsAndOneBehindDoesNot() {
        Instant databaseTime = Instant.parse(DATABASE.column(
                        "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
                .get(0));
        Instant ahead = databaseTime.plusSeconds(3_600);
        outbox.transact(tx ->
                tx.append(OutboxEvent.of("s", "T").key("ahead").notBefore(ahead).build()));
        outbox.transact(tx -> tx.append(OutboxEvent.of("s", "T")
                .key("behind")
                .notBefore(databaseTime.minusSeconds(1))
                .build()));
        assertThat(DATABASE.column("SELECT event_key || ' ' || status FROM outbox_event ORDER BY id"))
                .containsExactly("ahead WAITING", "behind PENDING");
        assertThat(DATABASE.number(
                        "SELECT count(*) FROM outbox_event WHERE event_key = 'ahead' AND due_at = '" + ahead + "'"))
                .isEqualTo(1);
    }

    @Test
    void aPayloadOverTheLimitIsRefusedAndNothingOfItsBatchIsWritten() throws SQLException {
        JdbcOutbox small = outbox.withMaxPayload(10);
        try (Connection connection = transaction()) {
            assertThatThrownBy(() -> small.on(connection)
                            .append(List.of(
                                    event("fits"),
                                    OutboxEvent.of("s", "T")
                                            .payload(new byte[11])
                                            .build())))
                    .isInstanceOf(OutboxException.class)
                    .hasMessage(
                            "Event T (stream s) was not appended: payload has 11 bytes and the limit is 10. Store the"
                                    + " document elsewhere and send its address, or raise the payload limit together with the"
                                    + " destination's.");
            small.on(connection)
                    .append(OutboxEvent.of("s", "T")
                            .key("exact")
                            .payload(new byte[10])
                            .build());
            connection.commit();
        }
        assertThat(keys()).containsExactly("exact");
        assertThatThrownBy(() -> outbox.withMaxPayload(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("A payload limit of 0 bytes lets nothing through.");
    }

    @Test
    void theDefaultLimitIsNineHundredKibibytes() {
        assertThatCode(() -> outbox.transact(tx -> tx.append(
                        OutboxEvent.of("s", "T").payload(new byte[921_600]).build())))
                .doesNotThrowAnyException();
        assertThatThrownBy(() -> outbox.transact(tx -> tx.append(
                        OutboxEvent.of("s", "T").payload(new byte[921_601]).build())))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("payload has 921601 bytes and the limit is 921600");
    }

    @Test
    void whatTheDatabaseRefusesNamesTheEventAndSaysWhatToDo() throws SQLException {
        try (Connection connection = transaction();
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute("nonsense")).isInstanceOf(SQLException.class);
            assertThatThrownBy(() -> outbox.on(connection).append(event("k")))
                    .isInstanceOf(OutboxException.class)
                    .hasMessage(
                            "The database refused event T (stream s): ERROR: current transaction is aborted, commands"
                                    + " ignored until end of transaction block. Roll your transaction back.")
                    .hasCauseInstanceOf(SQLException.class);
            assertThatThrownBy(() -> outbox.on(connection).append(List.of(event("k"), event("l"), event("m"))))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageStartingWith("The database refused event T (stream s) or one of the 2 after it: ")
                    .hasMessageEndingWith(". Roll your transaction back.");
        }
    }

    @Test
    void tablesMayBeInASchemaOfTheirOwn() {
        TableNames tables = new TableNames("shop");
        Schema.of(DATABASE.dataSource(), tables).apply(SchemaMode.MIGRATE);
        JdbcOutbox shop = outbox.withTables(tables);
        shop.transact(tx -> tx.append(event("in the shop")));
        assertThat(DATABASE.column("SELECT event_key FROM shop.outbox_event")).containsExactly("in the shop");
        assertThat(keys()).isEmpty();
        assertThat(rings).as("each has its own bell").hasValue(0);
    }

    private static String row(String expression) {
        List<String> rows = DATABASE.column("SELECT " + expression + " FROM outbox_event");
        assertThat(rows).hasSize(1);
        return rows.get(0);
    }

    /** Writes down which statements are prepared and executed on the connection. */
    private static Connection counting(Connection connection, List<String> calls) {
        return (Connection) Proxy.newProxyInstance(
                JdbcOutboxTest.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    Object result = call(method, connection, arguments);
                    if (!(result instanceof PreparedStatement prepared)) {
                        return result;
                    }
                    calls.add(method.getName());
                    return Proxy.newProxyInstance(
                            JdbcOutboxTest.class.getClassLoader(),
                            new Class<?>[] {PreparedStatement.class},
                            (statement, inner, given) -> {
                                if (inner.getName().startsWith("execute")) {
                                    calls.add(inner.getName());
                                }
                                return call(inner, prepared, given);
                            });
                });
    }

    private static Object call(Method method, Object on, Object[] arguments) throws Throwable {
        try {
            return method.invoke(on, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
