// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Wherever the limits cut a read off, no key has a gap: reading on and on, with what was read in flight, gives every key
 * in the order of its ids, and leaves nothing out. Checked against a model on random tables.
 */
class ReadPrefixTest {
    private static final TestDatabase database = TestDatabase.migrated();

    private record Row(
            long id, String stream, @Nullable String key, int shard, String status, boolean holds, boolean due) {
        /** Waits for its time, not because it failed: later events of its key need not wait for it. */
        boolean delayed() {
            return status.equals("WAITING") && !holds;
        }

        String lane() {
            return stream + "/" + (key == null ? "#" + id : key);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void readingOnGivesEveryKeyInOrderAndWhole(int seed) throws SQLException {
        Random random = new Random(seed);
        database.clear();
        try (Party owner = Party.owning(database, "owner")) {
            boolean plain = seed > 8;
            if (!plain && seed % 2 == 0) {
                owner.lookAtAll();
            }
            database.execute("INSERT INTO outbox_stream (stream, relay_group, on_dead)"
                    + " VALUES ('s0', 'default', 'HOLD_KEY'), ('s1', 'default', 'SKIP')");
            fill(random, 600, plain);
            Map<Integer, Long> shards = some(owner.ownership.all(), random);
            List<Row> rows = rows();
            List<Row> sendable = rows.stream()
                    .filter(row -> shards.containsKey(row.shard()) && sendable(row, rows))
                    .toList();
            Set<Long> inFlight = new HashSet<>();
            sendable.stream().filter(row -> random.nextInt(10) == 0).forEach(row -> inFlight.add(row.id()));
            List<Row> expected = sendable.stream()
                    .filter(row -> !inFlight.contains(row.id()))
                    .toList();

            List<Row> got = new ArrayList<>();
            int swept = 0;
            List<Row> part;
            do {
                if (plain) {
                    owner.sweeps(new ReadForm.Backlog("s" + random.nextInt(3), random.nextInt(40)));
                }
                EventStore.Found found = read(owner, shards, inFlight, random);
                swept += found.part() ? 1 : 0;
                part = rowsOf(found, rows);
                part.forEach(row -> inFlight.add(row.id()));
                got.addAll(part);
            } while (!part.isEmpty());

            assertThat(swept > 0).isEqualTo(plain);
            assertThat(got).containsExactlyInAnyOrderElementsOf(expected);
            assertThat(expected).isNotEmpty();
            Map<String, List<Row>> lanes = new HashMap<>();
            got.forEach(row ->
                    lanes.computeIfAbsent(row.lane(), lane -> new ArrayList<>()).add(row));
            lanes.values().forEach(ReadPrefixTest::assertInOrder);
        }
    }

    @Test
    void whatWaitsBehindAHeldKeyTakesNoPlaceFromOthers() {
        database.clear();
        try (Party owner = Party.owning(database, "owner")) {
            database.event("s", "k", "status = 'DEAD', holds = true");
            for (int i = 0; i < 20; i++) {
                database.event("s", "k");
            }
            long neighbour = database.event("s", database.neighbourOf("k"));
            EventStore.Query few = Party.query(owner.ownership.all(), Set.of(), 4, 4, Long.MAX_VALUE);
            assertThat(Party.ids(owner.read(few).deliveries())).containsExactly(neighbour);
        }
    }

    private static EventStore.Found read(Party owner, Map<Integer, Long> shards, Set<Long> inFlight, Random random) {
        int limit = 1 + random.nextInt(60);
        int depth = 1 + random.nextInt(limit);
        long bytes = random.nextBoolean() ? Long.MAX_VALUE : 1 + random.nextInt(300);
        EventStore.Found found = owner.read(Party.query(shards, inFlight, depth, limit, bytes));
        assertThat(found.deliveries()).hasSizeLessThanOrEqualTo(limit);
        assertThat(Party.ids(found.deliveries())).noneMatch(inFlight::contains);
        return found;
    }

    private static List<Row> rowsOf(EventStore.Found found, List<Row> rows) {
        Map<Long, Row> byId = rows.stream().collect(Collectors.toMap(Row::id, row -> row));
        return found.deliveries().stream()
                .map(delivery -> byId.get(delivery.id()))
                .toList();
    }

    /** Nothing comes after a younger one, except what may be overtaken. */
    private static void assertInOrder(List<Row> lane) {
        for (int i = 0; i < lane.size(); i++) {
            for (Row later : lane.subList(i + 1, lane.size())) {
                assertThat(later.delayed() || later.id() > lane.get(i).id())
                        .as("%s before %s", lane.get(i), later)
                        .isTrue();
            }
        }
    }

    private static boolean sendable(Row row, List<Row> all) {
        boolean ready = row.status().equals("PENDING") || (row.status().equals("WAITING") && row.due());
        return ready
                && (row.key() == null
                        || all.stream()
                                .noneMatch(other -> other.holds()
                                        && other.id() < row.id()
                                        && other.lane().equals(row.lane())));
    }

    private static Map<Integer, Long> some(Map<Integer, Long> shards, Random random) {
        int first = random.nextInt(256);
        Map<Integer, Long> some = new TreeMap<>(Comparator.comparing(shard -> (shard - first) & 255));
        shards.forEach((shard, epoch) -> {
            if (random.nextInt(5) > 0) {
                some.put(shard, epoch);
            }
        });
        return some;
    }

    /** @param plain nothing is held, waits for its time, or is dead */
    private static void fill(Random random, int count, boolean plain) {
        StringBuilder sql = new StringBuilder(
                "INSERT INTO outbox_event (stream, event_key, event_type, payload, status, holds, due_at) VALUES ");
        for (int i = 0; i < count; i++) {
            @Nullable String key = random.nextInt(8) == 0 ? null : "k" + random.nextInt(40);
            int kind = random.nextInt(plain ? 13 : 20);
            String status = kind < 13 ? "PENDING" : kind < 18 ? "WAITING" : "DEAD";
            boolean holds = key != null && (kind == 13 || kind == 18);
            sql.append(i == 0 ? "" : ", ")
                    .append("('s%d', %s, 'T', repeat('x', %d)::bytea, '%s', %b, clock_timestamp() + interval '%d s')"
                            .formatted(
                                    random.nextInt(3),
                                    TestDatabase.literal(key),
                                    random.nextInt(40),
                                    status,
                                    holds,
                                    !plain && random.nextInt(3) == 0 ? 3600 : -random.nextInt(1, 100)));
        }
        database.execute(sql.toString());
        if (random.nextBoolean()) {
            database.execute("ANALYZE outbox_event");
        }
    }

    private static List<Row> rows() throws SQLException {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT id, stream, event_key, shard, status, holds,"
                        + " due_at < clock_timestamp() FROM outbox_event ORDER BY id")) {
            List<Row> found = new ArrayList<>();
            while (rows.next()) {
                found.add(new Row(
                        rows.getLong(1),
                        rows.getString(2),
                        rows.getString(3),
                        rows.getInt(4),
                        rows.getString(5),
                        rows.getBoolean(6),
                        rows.getBoolean(7)));
            }
            return found;
        }
    }
}
