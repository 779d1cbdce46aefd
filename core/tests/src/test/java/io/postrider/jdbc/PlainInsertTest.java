// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.relay.DrainResult;
import io.postrider.relay.Relay;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Any program that can write SQL can append. */
class PlainInsertTest {
    private static final TestDatabase DATABASE = TestDatabase.migrated();

    @BeforeEach
    void empty() {
        DATABASE.execute("TRUNCATE outbox_event");
    }

    @Test
    void threeColumnsAreEnough() {
        DATABASE.execute("INSERT INTO outbox_event (stream, event_type, payload) VALUES ('s', 'T', '\\x00ff27')");
        OutboxEvent event = delivered().get(0);
        assertThat(event.stream()).isEqualTo("s");
        assertThat(event.type()).isEqualTo("T");
        assertThat(event.payload()).containsExactly(0, 0xff, 0x27);
        assertThat(event.key()).isEmpty();
        assertThat(event.headers()).isEmpty();
        assertThat(event.contentType()).isEmpty();
        assertThat(event.aggregateType()).isEmpty();
        assertThat(event.aggregateId()).isEmpty();
        assertThat(event.maxAttempts()).isEmpty();
        assertThat(event.id().version()).as("drawn by the database").isEqualTo(4);
        assertThat(DATABASE.number("SELECT count(*) FROM outbox_event")).isZero();
    }

    @Test
    void everyColumnOfAnEventIsDeliveredAsItWasWritten() {
        DATABASE.execute("""
                INSERT INTO outbox_event (event_id, stream, event_key, event_type, aggregate_type, aggregate_id, payload,
                                          content_type, headers, occurred_at, max_attempts)
                VALUES ('01900000-0000-7000-8000-000000000001', 'orders', 'k ü', 'OrderPlaced', 'Order', '7',
                        convert_to('{"a": "ü"}', 'UTF8'), 'application/json', '{"h": "v"}',
                        '2026-01-02 03:04:05.123456Z', 3)""");
        OutboxEvent event = delivered().get(0);
        assertThat(event.id()).hasToString("01900000-0000-7000-8000-000000000001");
        assertThat(event.key()).contains("k ü");
        assertThat(event.aggregateType()).contains("Order");
        assertThat(event.aggregateId()).contains("7");
        assertThat(event.payload()).asString(UTF_8).isEqualTo("{\"a\": \"ü\"}");
        assertThat(event.contentType()).contains("application/json");
        assertThat(event.headers()).containsExactly(Map.entry("h", "v"));
        assertThat(event.occurredAt()).hasToString("2026-01-02T03:04:05.123456Z");
        assertThat(event.maxAttempts()).hasValue(3);
    }

    @Test
    void headersThatAreNoStringsArriveAsTheirJsonText() {
        DATABASE.execute("""
                INSERT INTO outbox_event (stream, event_type, headers) VALUES ('s', 'T',
                '{"n": 1.50, "t": true, "z": null, "a": [1, "x,}"], "o": {"k": {"d": "\\"}"}}, "s": "line\\nü\\u0001 \\ud83d\\ude00"}')""");
        assertThat(delivered().get(0).headers())
                .containsOnly(
                        Map.entry("n", "1.50"),
                        Map.entry("t", "true"),
                        Map.entry("z", "null"),
                        Map.entry("a", "[1, \"x,}\"]"),
                        Map.entry("o", "{\"k\": {\"d\": \"\\\"}\"}}"),
                        Map.entry("s", "line\nü\u0001 😀"));
    }

    @Test
    void aKeyOrdersAndNoKeyDoesNot() {
        DATABASE.execute("INSERT INTO outbox_event (stream, event_type, event_key, aggregate_id)"
                + " SELECT 's', 'T' || n, CASE WHEN n % 2 = 0 THEN 'k' END, 'a' FROM generate_series(1, 20) n");
        List<OutboxEvent> events = delivered();
        assertThat(events).hasSize(20);
        assertThat(events.stream().filter(event -> event.key().isPresent()).map(OutboxEvent::type))
                .containsExactly("T2", "T4", "T6", "T8", "T10", "T12", "T14", "T16", "T18", "T20");
        assertThat(events).filteredOn(event -> event.key().isEmpty()).hasSize(10);
    }

    @Test
    void anAggregateMayHaveAnIdWithoutATypeAndATypeWithoutAnId() {
        DATABASE.execute("INSERT INTO outbox_event (stream, event_type, aggregate_id) VALUES ('s', 'id', '7')");
        DATABASE.execute("INSERT INTO outbox_event (stream, event_type, aggregate_type) VALUES ('s', 'type', 'Order')");
        for (OutboxEvent event : delivered()) {
            assertThat(event.aggregateId().isPresent())
                    .as(event.type())
                    .isEqualTo(event.type().equals("id"));
            assertThat(event.aggregateType().isPresent())
                    .as(event.type())
                    .isEqualTo(event.type().equals("type"));
        }
    }

    @Test
    void anEventWithoutPayloadIsATombstoneAndAnEmptyOneIsNot() {
        DATABASE.execute("INSERT INTO outbox_event (stream, event_type, event_key) VALUES ('s', 'gone', 'k')");
        DATABASE.execute(
                "INSERT INTO outbox_event (stream, event_type, event_key, payload) VALUES ('s', 'empty', 'k', '')");
        List<OutboxEvent> events = delivered();
        assertThat(events.get(0).payload()).isNull();
        assertThat(events.get(1).payload()).isEmpty();
    }

    @Test
    void theShardFollowsFromTheKeyWhateverIsGiven() {
        DATABASE.execute("INSERT INTO outbox_event (stream, event_type, event_key, shard) VALUES ('s', 'T', 'k', 5)");
        String expected = "SELECT count(*) FROM outbox_event WHERE shard = (hashtextextended(event_key, 0) & 255)";
        assertThat(DATABASE.number(expected)).isEqualTo(1);
        DATABASE.execute("UPDATE outbox_event SET event_key = 'another', shard = 7");
        assertThat(DATABASE.number(expected)).isEqualTo(1);
    }

    @Test
    void anEventThatIsDueLaterWaits() {
        DATABASE.execute("INSERT INTO outbox_event (stream, event_type, due_at) VALUES"
                + " ('s', 'T', clock_timestamp() + interval '1 hour'), ('s', 'T', clock_timestamp())");
        assertThat(DATABASE.number("SELECT count(*) FROM outbox_event WHERE status = 'WAITING'"))
                .isEqualTo(1);
        assertThat(DATABASE.number("SELECT count(*) FROM outbox_event WHERE status = 'PENDING'"))
                .isEqualTo(1);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '§',
            value = {
                "no stream | stream | NULL | 23502",
                "an empty stream | stream | '' | 23514",
                "a stream of 130 bytes | stream | repeat('ü', 65) | 23514",
                "no type | event_type | NULL | 23502",
                "an empty type | event_type | '' | 23514",
                "a type of 257 bytes | event_type | repeat('x', 257) | 23514",
                "an empty key | event_key | '' | 23514",
                "a key of 513 bytes | event_key | repeat('x', 513) | 23514",
                "headers that are a list | headers | '[]' | 23514",
                "no headers | headers | NULL | 23502",
                "a status that is none | status | 'SENT' | 23514",
                "an empty dedup key | dedup_key | '' | 23514",
                "a dedup key of 513 bytes | dedup_key | repeat('x', 513) | 23514",
                "an expiry that is no time | expires_at | 'infinity' | 23514",
                "an expiry before it is due | due_at, expires_at | '2200-01-02', '2200-01-01' | 23514",
                "no attempts at all | max_attempts | 0 | 23514",
                "a pending event that holds its key | holds | true | 23514",
                "a row number of its own | id | 5 | 428C9"
            })
    void theTableRefuses(String what, String column, String value, String state) throws SQLException {
        Map<String, String> values = new TreeMap<>(Map.of("stream", "'s'", "event_type", "'T'"));
        values.put(column, value);
        String sql = "INSERT INTO outbox_event (" + String.join(", ", values.keySet()) + ") VALUES ("
                + String.join(", ", values.values()) + ")";
        try (Connection connection = DATABASE.connect();
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute(sql))
                    .as(what)
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(state));
        }
        assertThat(DATABASE.number("SELECT count(*) FROM outbox_event")).isZero();
    }

    private static List<OutboxEvent> delivered() {
        long rows = DATABASE.number("SELECT count(*) FROM outbox_event");
        List<OutboxEvent> events = new CopyOnWriteArrayList<>();
        DrainResult result = Relay.from(OrderedFeed.of(DATABASE.dataSource()))
                .to(event -> {
                    events.add(event);
                    return CompletableFuture.completedFuture(null);
                })
                .build()
                .drain(1_000);
        assertThat(result).isEqualTo(new DrainResult(rows, 0, 0, true));
        return events;
    }
}
