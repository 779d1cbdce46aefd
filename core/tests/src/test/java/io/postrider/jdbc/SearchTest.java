// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.ops.Actor;
import io.postrider.ops.Audit;
import io.postrider.ops.Consumers;
import io.postrider.ops.DeadLetterQuery;
import io.postrider.ops.DeadLetters;
import io.postrider.ops.EventContent;
import io.postrider.ops.EventQuery;
import io.postrider.ops.History;
import io.postrider.ops.HistorySearch;
import io.postrider.ops.Relays;
import io.postrider.ops.Streams;
import io.postrider.ops.Undelivered;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How people find events, delivered or not, and who did what with them. */
class SearchTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final EventQuery ALL = EventQuery.all();

    @BeforeEach
    void clear() {
        database.clear();
        database.execute("VACUUM outbox_history");
    }

    @Test
    void undeliveredEventsAreFoundByWhatTheyAre() {
        long dead = database.event("s", "k", "status = 'DEAD', last_error_code = 'BAD', aggregate_id = 'a1'");
        long retrying = database.event(
                "s",
                "k",
                "status = 'WAITING', attempt_count = 1, due_at = clock_timestamp() + interval '1 h', event_type = 'U'");
        long old = database.event("t", "l", "created_at = '2026-01-01T00:00:00Z'");
        assertThat(found(new EventQuery(null, null, null, null, null, null, "DEAD", null, null)))
                .containsExactly(dead);
        assertThat(found(new EventQuery(null, null, null, null, null, null, "RETRYING", null, null)))
                .containsExactly(retrying);
        assertThat(found(new EventQuery(null, null, null, null, null, null, "PENDING", null, null)))
                .containsExactly(old);
        assertThat(found(new EventQuery(null, "U", null, null, null, null, null, null, null)))
                .containsExactly(retrying);
        assertThat(found(new EventQuery(null, null, null, null, "a1", null, null, null, null)))
                .containsExactly(dead);
        assertThat(found(new EventQuery(null, null, null, null, null, "BAD", null, null, null)))
                .containsExactly(dead);
        assertThat(found(ALL.between(null, Instant.parse("2026-02-01T00:00:00Z"))))
                .containsExactly(old);
        assertThat(found(ALL.between(Instant.parse("2026-02-01T00:00:00Z"), null)))
                .containsExactly(dead, retrying);
        assertThat(found(ALL.stream("s"))).containsExactly(dead, retrying);
        assertThat(found(ALL.key("l"))).containsExactly(old);
    }

    private static List<Long> found(EventQuery query) {
        List<Long> ids = new ArrayList<>();
        long after = 0;
        while (true) {
            Undelivered.Page page = Undelivered.of(database.dataSource()).search(query, after, 1);
            page.events().forEach(each -> ids.add(each.id()));
            if (page.searchedTo().isEmpty()) {
                return ids;
            }
            after = page.searchedTo().getAsLong();
        }
    }

    @Test
    void aSearchThatFindsNothingForLongGoesOnWhereItStopped() {
        database.execute("INSERT INTO outbox_event (stream, event_type, payload) SELECT 's', 'T', 'x'"
                + " FROM generate_series(1, 60000)");
        long needle = database.event("s", "k", "event_type = 'Needle'");
        Undelivered undelivered = Undelivered.of(database.dataSource());
        EventQuery query = new EventQuery(null, "Needle", null, null, null, null, null, null, null);
        Undelivered.Page first = undelivered.search(query, 0, 10);
        assertThat(first.events()).isEmpty();
        Undelivered.Page second = undelivered.search(query, first.searchedTo().orElseThrow(), 10);
        assertThat(second.events()).extracting(Undelivered.Event::id).containsExactly(needle);
        assertThat(second.searchedTo()).isEmpty();
    }

    @Test
    void theHistoryIsSearchedFromItsEndPageByPage() {
        settle("T", 3000, "clock_timestamp() - (3000 - n) * interval '1 ms'", "today");
        settle("Old", 500, "clock_timestamp() + interval '1 day' + n * interval '1 ms'", "later day");
        HistorySearch search = History.of(database.dataSource()).search(ALL);
        Set<UUID> seen = new HashSet<>();
        List<String> types = new ArrayList<>();
        Optional<String> next = Optional.empty();
        do {
            HistorySearch.Page page = search.page(next.orElse(null), 333);
            page.entries().forEach(each -> {
                assertThat(seen.add(each.eventId())).as("each once").isTrue();
                types.add(each.type());
            });
            next = page.next();
        } while (next.isPresent());
        assertThat(seen).hasSize(3500);
        assertThat(types.subList(0, 500)).as("the later day first").containsOnly("Old");
        assertThat(types.subList(500, 3500)).containsOnly("T");
        assertThatThrownBy(() -> search.page("2026-01-01.x.1", 10)).hasMessageContaining("no place in the history");
    }

    @Test
    void theHistoryIsSearchedByTimeByHalving() {
        settle("T", 20_000, "date_trunc('day', clock_timestamp(), 'UTC') + n * interval '1 s'", "pages");
        Instant day = Instant.parse(database.column("SELECT to_char(date_trunc('day', clock_timestamp(), 'UTC')"
                        + " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
                .get(0));
        HistorySearch search =
                History.of(database.dataSource()).search(ALL.between(day.plusSeconds(7000), day.plusSeconds(7010)));
        HistorySearch.Page page = search.page(null, 100);
        assertThat(page.entries())
                .extracting(each -> each.settledAt().getEpochSecond() - day.getEpochSecond())
                .containsExactly(7009L, 7008L, 7007L, 7006L, 7005L, 7004L, 7003L, 7002L, 7001L, 7000L);
        assertThat(page.next()).isEmpty();
    }

    @Test
    void theHistoryIsSearchedByWhatEventsAre() {
        settle("T", 10, "clock_timestamp()", "a");
        settle("U", 1, "clock_timestamp()", "b");
        database.execute(
                "UPDATE outbox_history SET outcome = 'DISCARDED', last_error_code = 'BAD', aggregate_id = 'a1',"
                        + " event_key = 'k' WHERE event_type = 'U'");
        History history = History.of(database.dataSource());
        for (EventQuery query : List.of(
                new EventQuery("s", "U", null, null, null, null, null, null, null),
                new EventQuery(null, null, "k", null, null, null, null, null, null),
                new EventQuery(null, null, null, null, "a1", null, null, null, null),
                new EventQuery(null, null, null, null, null, "BAD", null, null, null),
                new EventQuery(null, null, null, null, null, null, "DISCARDED", null, null))) {
            assertThat(history.search(query).page(null, 50).entries())
                    .as("%s", query)
                    .extracting(History.Entry::type)
                    .containsExactly("U");
        }
    }

    @Test
    void whatBecameOfOneEventIsFoundByItsIdAlsoWhereNoPartitionWas() {
        settle("T", 100, "clock_timestamp()", "x");
        UUID id = UUID.fromString(
                database.column("SELECT event_id FROM outbox_history LIMIT 1").get(0));
        database.execute("INSERT INTO outbox_history_overflow SELECT id, event_id, stream, event_key, 'Again',"
                + " aggregate_type, aggregate_id, NULL, false, content_type, headers, occurred_at, 0, NULL, NULL,"
                + " created_at, outcome, clock_timestamp(), settled_by FROM outbox_history WHERE event_id = '" + id
                + "'");
        History history = History.of(database.dataSource());
        List<History.Entry> entries = history.find(id);
        assertThat(entries).extracting(History.Entry::type).containsExactly("Again", "T");
        EventContent kept = history.content(entries.get(1)).orElseThrow();
        assertThat(kept.payload()).isEqualTo("x".getBytes(StandardCharsets.UTF_8));
        assertThat(kept.headers()).containsEntry("a", "b");
        assertThat(history.content(entries.get(0)).orElseThrow().payloadKept()).isFalse();
        assertThat(history.find(UUID.randomUUID())).isEmpty();
    }

    @Test
    void recentDeliveriesTellRatesAndHowLongTheyTook() {
        settle("T", 100, "clock_timestamp() - n * interval '100 ms'", "x");
        database.execute("UPDATE outbox_history SET created_at = settled_at - interval '20 ms'");
        List<History.Recent> recent = History.of(database.dataSource()).recent();
        assertThat(recent).extracting(each -> each.stream().orElse("")).containsExactlyInAnyOrder("", "s");
        History.Recent all = recent.stream()
                .filter(each -> each.stream().isEmpty())
                .findFirst()
                .orElseThrow();
        assertThat(all.count()).isEqualTo(100);
        assertThat(all.perSecond()).isBetween(5.0, 11.0);
        assertThat(all.p50().toMillis()).isEqualTo(20);
    }

    private static void settle(String type, int count, String at, String payload) {
        database.execute("INSERT INTO outbox_history (id, event_id, stream, event_type, payload, payload_kept, headers,"
                + " occurred_at, attempt_count, created_at, outcome, settled_at, settled_by) SELECT n, gen_random_uuid(),"
                + " 's', '" + type + "', convert_to('" + payload
                + "', 'UTF8'), true, '{\"a\": \"b\"}', now(), 0, now(),"
                + " 'PUBLISHED', " + at + ", 'relay' FROM generate_series(1, " + count + ") n");
    }

    @Test
    void deadLettersAreGroupedCountedAndNamed() {
        String dead = "status = 'DEAD', holds = true, last_error_code = ";
        database.event("s", "k1", dead + "'BAD'");
        database.event("s", "k2", dead + "'BAD'");
        long third = database.event("s", "k3", dead + "'WORSE', last_error_message = 'much'");
        database.event("s", "k4");
        DeadLetters letters = DeadLetters.of(database.dataSource());
        assertThat(letters.groups(100))
                .extracting(each -> each.errorCode() + " " + each.count() + " " + each.holding())
                .containsExactly("BAD 2 2", "WORSE 1 1");
        assertThat(letters.groups(100).get(1).exampleMessage()).isEqualTo("much");
        DeadLetters.Count count = letters.count(DeadLetterQuery.all(), 100);
        assertThat(count).isEqualTo(new DeadLetters.Count(3, third));
        assertThat(letters.count(DeadLetterQuery.all().errorCode("BAD"), 100).found())
                .isEqualTo(2);
        assertThat(letters.count(DeadLetterQuery.all(), 2).found())
                .as("no further than the bound")
                .isEqualTo(2);
        UUID id = letters.find(DeadLetterQuery.all().errorCode("WORSE")).get(0).eventId();
        assertThat(letters.named(List.of(id, UUID.randomUUID())))
                .extracting(each -> each.id())
                .containsExactly(third);
    }

    @Test
    void whatPeopleDidIsFoundNewestFirst() {
        database.event("s", "k", "status = 'DEAD', holds = true");
        database.execute("INSERT INTO outbox_stream (stream, relay_group) VALUES ('s', 'g')");
        DeadLetters letters = DeadLetters.of(database.dataSource());
        letters.requeue(letters.find(DeadLetterQuery.all()), new Actor("kim", "fixed"));
        Streams.of(database.dataSource()).pause("s", new Actor("lee", "move"));
        Audit audit = Audit.of(database.dataSource());
        List<Audit.Entry> all = audit.find(Audit.Query.all(), Long.MAX_VALUE, 10);
        assertThat(all)
                .extracting(each -> each.who() + " " + each.action() + " " + each.reason())
                .containsExactly("lee pause move", "kim requeue fixed");
        UUID id = all.get(1).eventId().orElseThrow();
        assertThat(audit.find(new Audit.Query(id, null, null, null), Long.MAX_VALUE, 10))
                .hasSize(1);
        assertThat(audit.find(new Audit.Query(null, "s", "lee", "pause"), Long.MAX_VALUE, 10))
                .hasSize(1);
        assertThat(audit.find(Audit.Query.all(), all.get(0).id(), 10)).hasSize(1);
        assertThat(Streams.of(database.dataSource())
                        .known()
                        .get(0)
                        .pause()
                        .orElseThrow()
                        .by())
                .isEqualTo("lee");
    }

    @Test
    void consumersAreCountedUpToABoundWithTheNewestSeen() {
        database.execute("INSERT INTO inbox_message (consumer, event_id, processed_at) SELECT 'billing',"
                + " gen_random_uuid(), clock_timestamp() - n * interval '1 s' FROM generate_series(0, 29) n");
        database.execute("INSERT INTO inbox_message (consumer, event_id) VALUES ('search', gen_random_uuid())");
        List<Consumers.Consumer> all = Consumers.of(database.dataSource()).all(20);
        assertThat(all)
                .extracting(each -> each.name() + " " + each.processed())
                .containsExactly("billing 20", "search 1");
        assertThat(all.get(0).newest().orElseThrow()).isAfter(Instant.now().minusSeconds(20));
    }

    @Test
    void shardsAreShownWithTheirOwners() {
        try (Party owner = Party.owning(database, "owner")) {
            List<Relays.Shard> shards = Relays.of(database.dataSource()).shards();
            assertThat(shards).hasSize(256);
            assertThat(shards)
                    .allMatch(each ->
                            each.owner().filter(it -> it.id() == owner.member()).isPresent());
        }
    }

    @Test
    void anUndeliveredEventShowsWhatItSays() {
        database.event("s", "k");
        Undelivered undelivered = Undelivered.of(database.dataSource());
        Undelivered.Event event = undelivered.find(null, null, 0, 1).get(0);
        assertThat(undelivered.content(event).orElseThrow().payload()).hasSize(1);
        database.execute("DELETE FROM outbox_event");
        assertThat(undelivered.content(event)).isEmpty();
    }
}
