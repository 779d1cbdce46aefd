// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.ops.Actor;
import io.postrider.ops.Replay;
import io.postrider.ops.ReplayQuery;
import io.postrider.relay.Relay;
import io.postrider.table.Schema;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Delivered events are delivered again. */
class ReplayTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final Actor KIM = new Actor("kim", "search index lost");
    private static final ReplayQuery ALL = ReplayQuery.of("s");

    @BeforeEach
    void clear() {
        database.clear();
    }

    @Test
    void whatWasDeliveredIsDeliveredAgainInItsOrderWithItsIdAndAHeader() {
        JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());
        List<OutboxEvent> events = new ArrayList<>();
        for (int n = 0; n < 20; n++) {
            events.add(OutboxEvent.of("s", "T" + n)
                    .key("k" + n % 2)
                    .aggregate("Order", "o" + n)
                    .header("h", "v" + n)
                    .json("{\"n\":" + n + "}")
                    .build());
        }
        outbox.transact(tx -> tx.append(events));
        assertThat(delivered()).hasSize(20);
        Replay.Progress end = replay().run(ALL, KIM, progress -> {});
        assertThat(end.appended()).isEqualTo(20);
        assertThat(database.column(
                        "SELECT reason FROM outbox_audit WHERE who = 'kim' AND action = 'replay' AND stream = 's'"))
                .containsExactly("search index lost [20 events, up to row " + end.lastRow() + "]");
        List<OutboxEvent> again = delivered();
        assertThat(again.stream()
                        .filter(each -> each.key().equals(Optional.of("k1")))
                        .map(OutboxEvent::id))
                .containsExactlyElementsOf(events.stream()
                        .filter(each -> each.key().equals(Optional.of("k1")))
                        .map(OutboxEvent::id)
                        .toList());
        assertThat(again).hasSize(20).allSatisfy(each -> {
            OutboxEvent original = events.stream()
                    .filter(other -> other.id().equals(each.id()))
                    .findFirst()
                    .orElseThrow();
            assertThat(each.type()).isEqualTo(original.type());
            assertThat(each.payload()).isEqualTo(original.payload());
            assertThat(each.headers()).containsAllEntriesOf(original.headers());
            assertThat(Duration.between(Instant.parse(each.headers().get("postrider-replay")), Instant.now()))
                    .isLessThan(Duration.ofMinutes(1));
        });
        assertThat(replay().count(ALL)).as("what was replayed is no original").isEqualTo(20);
    }

    @ParameterizedTest
    @CsvSource({", , , 60", "k1, , , 30", ", T0, , 20", "k1, T0, , 10", ", , 30, 30", "none, , , 0"})
    void someAreCountedAndReplayed(String key, String type, Integer fromMinute, int expected) {
        history(60);
        Instant start = Instant.parse(database.column("SELECT to_char(min(settled_at) AT TIME ZONE 'UTC',"
                        + " 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') FROM outbox_history")
                .get(0));
        ReplayQuery query = ALL.key(key).type(type);
        query = fromMinute == null ? query : query.from(start.plusSeconds(fromMinute));
        assertThat(replay().count(query)).isEqualTo(expected);
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
        assertThat(replay().run(query, KIM, progress -> {}).appended()).isEqualTo(expected);
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isEqualTo(expected);
    }

    @Test
    void whatIsUndeliveredIsNotAppendedASecondTime() {
        history(10);
        assertThat(replay().run(ALL, KIM, progress -> {}).appended()).isEqualTo(10);
        Replay.Progress second = replay().run(ALL, KIM, progress -> {});
        assertThat(second.done()).isEqualTo(10);
        assertThat(second.appended()).isZero();
    }

    @Test
    void withNewIdsConsumersProcessThemAgain() {
        history(10);
        assertThat(replay().newIds().run(ALL, KIM, progress -> {}).appended()).isEqualTo(10);
        assertThat(database.number("SELECT count(*) FROM outbox_event e JOIN outbox_history h USING (event_id)"))
                .isZero();
        assertThat(database.number("SELECT count(DISTINCT event_id) FROM outbox_event"))
                .isEqualTo(10);
    }

    @Test
    void oneThatIsStoppedGoesOnWhereItEnded() {
        history(1200);
        Replay replay = replay().newIds();
        Replay.Progress first = replay.run(ALL, KIM, progress -> replay.stop());
        assertThat(first).isEqualTo(new Replay.Progress(1200, 500, 500, 500));
        assertThat(replay().newIds().run(ALL.afterRow(first.lastRow()), KIM, progress -> {}))
                .isEqualTo(new Replay.Progress(700, 700, 700, 1200));
        assertThatAllWereAppendedOnceInOrder(1200);
    }

    @Test
    void aBatchThatFailsLeavesNothingBehindAndTheAuditTellsWhereToGoOn() {
        history(1200);
        database.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                + " IF NEW.event_type = 'T1' AND NEW.aggregate_id = '700' THEN RAISE 'refused'; END IF; RETURN NEW; END $$;"
                + " CREATE TRIGGER refuse BEFORE INSERT ON outbox_event FOR EACH ROW EXECUTE FUNCTION refuse()");
        assertThatThrownBy(() -> replay().newIds().run(ALL, KIM, progress -> {}))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("Could not replay events of stream s behind row 500: ERROR: refused.")
                .hasMessageContaining("go on behind the last row named there");
        database.execute("DROP FUNCTION refuse() CASCADE");
        assertThat(database.column("SELECT reason FROM outbox_audit"))
                .containsExactly("search index lost [500 events, up to row 500]");
        replay().newIds().run(ALL.afterRow(500), KIM, progress -> {});
        assertThatAllWereAppendedOnceInOrder(1200);
    }

    @Test
    void noMoreAreReplayedInASecondThanShallBe() {
        history(250);
        long start = System.nanoTime();
        replay().rate(100).run(ALL, KIM, progress -> {});
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void whatTheHistoryDoesNotHoldIsRefused() {
        history(10);
        for (String policy : List.of("OFF", "NO_PAYLOAD")) {
            database.execute("DELETE FROM outbox_stream; INSERT INTO outbox_stream (stream, relay_group, history)"
                    + " VALUES ('s', 'default', '" + policy + "')");
            assertThatThrownBy(() -> replay().run(ALL, KIM, progress -> {}))
                    .hasMessage(
                            "The history of stream s is "
                                    + (policy.equals("OFF") ? "off" : "kept without payloads")
                                    + ", so its events cannot be replayed. Set it to KEEP; what is delivered from then on can be.");
        }
        database.execute(
                "DELETE FROM outbox_stream; UPDATE outbox_history SET payload = NULL, payload_kept = false WHERE id < 4");
        assertThatThrownBy(() -> replay().run(ALL, KIM, progress -> {}))
                .hasMessage(
                        "Of 10 events of stream s 3 are in the history without their payload, so they cannot be replayed."
                                + " Narrow the time down to when it was kept.");
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
        assertThatThrownBy(() -> ALL.from(Instant.EPOCH).to(Instant.EPOCH))
                .hasMessageContaining("not after the beginning");
    }

    @Test
    void whatWasDiscardedOrIsInTheOverflowIsTreatedAsItShould() {
        history(4);
        database.execute("UPDATE outbox_history SET outcome = 'DISCARDED' WHERE id = 1;"
                + " WITH gone AS (DELETE FROM outbox_history WHERE id = 2 RETURNING *)"
                + " INSERT INTO outbox_history_overflow SELECT * FROM gone");
        replay().run(ALL, KIM, progress -> {});
        assertThat(database.column("SELECT aggregate_id FROM outbox_event ORDER BY id"))
                .containsExactly("2", "3", "4");
    }

    @Test
    void anOperatorWhoMayAppendMayReplay() {
        database.execute(Schema.roles());
        database.execute("CREATE USER replayer; GRANT postrider_operator TO replayer");
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(((PGSimpleDataSource) database.dataSource()).getUrl());
        source.setUser("replayer");
        history(3);
        assertThat(Replay.of(source).count(ALL)).isEqualTo(3);
        assertThatThrownBy(() -> Replay.of(source).run(ALL, KIM, progress -> {}))
                .hasMessageContaining("permission denied")
                .hasMessageEndingWith("The roles postrider_operator and postrider_writer are needed.");
        database.execute("GRANT postrider_writer TO replayer");
        assertThat(Replay.of(source).run(ALL, KIM, progress -> {}).appended()).isEqualTo(3);
    }

    private static Replay replay() {
        return Replay.of(database.dataSource()).rate(1_000_000);
    }

    private static void assertThatAllWereAppendedOnceInOrder(int count) {
        List<String> numbers = database.column("SELECT aggregate_id FROM outbox_event ORDER BY id");
        assertThat(numbers).hasSize(count);
        for (int n = 0; n < count; n++) {
            assertThat(numbers.get(n)).isEqualTo(String.valueOf(n + 1));
        }
    }

    /** What a relay that ends when nothing is left has sent. */
    private static List<OutboxEvent> delivered() {
        List<OutboxEvent> sent = new ArrayList<>();
        Relay relay = Relay.from(OrderedFeed.of(database.dataSource()))
                .to(event -> {
                    synchronized (sent) {
                        sent.add(event);
                    }
                    return CompletableFuture.completedFuture(null);
                })
                .build();
        relay.drain(1000, Duration.ofSeconds(60));
        return sent;
    }

    /** Rows 1 to n, not in the order of their ids, over two keys and three types, delivered a second apart. */
    private static void history(int count) {
        database.execute(
                "INSERT INTO outbox_history (id, event_id, stream, event_key, event_type, aggregate_id, payload,"
                        + " payload_kept, headers, occurred_at, attempt_count, created_at, outcome, settled_at, settled_by)"
                        + " SELECT n, gen_random_uuid(), 's', 'k' || n % 2, 'T' || n % 3, n, 'x', true, '{}', now(), 0, now(),"
                        + " 'PUBLISHED', ((clock_timestamp() AT TIME ZONE 'UTC')::date)::timestamp AT TIME ZONE 'UTC'"
                        + " + n * interval '1 second', 'r' FROM generate_series(1, " + count + ") n ORDER BY random()");
    }
}
