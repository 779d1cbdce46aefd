// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.jdbc.Party.Form;
import io.postrider.relay.Delivery;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** On random small tables a glance gives what steps give, or says that it cannot. */
class GlanceTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final int TABLES = 300;

    /** What a read tells that is not different for every one. */
    private record Sight(List<String> deliveries, Set<String> newStreams, Set<Integer> holding, boolean isDue) {
        static Sight of(EventStore.Found found) {
            return new Sight(
                    found.deliveries().stream().map(Sight::told).toList(),
                    found.newStreams(),
                    found.holding(),
                    found.dueInMicros().isPresent());
        }

        private static String told(Delivery delivery) {
            ShardClaim claim = ShardClaim.of(delivery);
            return List.of(
                            delivery.id(),
                            delivery.revision(),
                            delivery.attempts(),
                            delivery.hasExpired(),
                            claim,
                            delivery.event(),
                            delivery.event().payloadSize(),
                            delivery.event().headers())
                    .toString();
        }
    }

    @Test
    void aGlanceGivesWhatStepsGive() {
        int plain = 0;
        int some = 0;
        database.execute("INSERT INTO outbox_stream (stream, relay_group, mode, on_dead, history, paused_at) VALUES"
                + " ('s1', 'default', 'ORDERED', 'SKIP', 'OFF', NULL), ('s2', 'other', 'ORDERED', 'HOLD_KEY', 'KEEP', NULL),"
                + " ('s3', 'default', 'COMPETING', 'HOLD_KEY', 'KEEP', NULL),"
                + " ('s4', 'default', 'ORDERED', 'HOLD_KEY', 'KEEP', now())");
        try (Party owner = Party.owning(database, "owner")) {
            for (int seed = 1; seed <= TABLES; seed++) {
                Random random = new Random(seed);
                database.execute("DELETE FROM outbox_event");
                EventStore.Query query = query(owner, random, fill(random, random.nextInt(9)));
                int lost = random.nextInt(10) == 0 ? random.nextInt(256) : 0;
                database.execute("UPDATE outbox_shard SET epoch = epoch + 1 WHERE shard < " + lost);
                owner.reads(Form.STEPS);
                Sight steps = Sight.of(owner.read(query));
                owner.reads(Form.GLANCE);
                Sight glance = Sight.of(owner.read(query));
                database.execute("UPDATE outbox_shard SET epoch = epoch - 1 WHERE shard < " + lost);
                assertThat(glance).as("table %d", seed).isEqualTo(steps);
                plain += owner.saysPlain() ? 1 : 0;
                some += owner.saysPlain() && !glance.deliveries().isEmpty() ? 1 : 0;
            }
        }
        assertThat(plain).as("so many were plain").isBetween(TABLES / 4, TABLES * 3 / 4);
        assertThat(some).as("so many of them brought something").isGreaterThan(TABLES / 10);
    }

    private static EventStore.Query query(Party owner, Random random, List<Long> ids) {
        Map<Integer, Long> shards = new TreeMap<>(owner.ownership.all());
        shards.keySet().removeIf(shard -> shard > 0 && random.nextInt(10) == 0);
        Set<Long> inFlight = ids.stream().filter(id -> random.nextInt(5) == 0).collect(Collectors.toSet());
        int depth = 1 + random.nextInt(6);
        long bytes = random.nextInt(4) == 0 ? 1 + random.nextInt(60) : Long.MAX_VALUE;
        Set<String> without = random.nextInt(5) == 0 ? Set.of("s0") : Set.of();
        @Nullable String only = random.nextInt(8) == 0 ? "s1" : null;
        return new EventStore.Query(shards, inFlight, depth, depth + random.nextInt(20), bytes, without, only, false);
    }

    private static List<Long> fill(Random random, int count) {
        List<Long> ids = new ArrayList<>();
        boolean onlyPending = random.nextInt(3) > 0;
        for (int i = 0; i < count; i++) {
            int kind = onlyPending ? 0 : random.nextInt(13);
            String state = kind < 9
                    ? "status = 'PENDING'"
                    : kind == 9
                            ? "status = 'WAITING', due_at = clock_timestamp() + interval '%d hours'"
                                    .formatted(random.nextBoolean() ? 1 : -1)
                            : "status = '%s', holds = %b".formatted(kind == 12 ? "UNKNOWN" : "DEAD", kind == 10);
            String more = state
                    + ", payload = repeat('x', %d)::bytea, attempt_count = %d, expires_at = %s, locked_by = %s"
                            .formatted(
                                    random.nextInt(20),
                                    random.nextInt(3),
                                    List.of("NULL", "now() - interval '1 s'", "now() + interval '1 h'")
                                            .get(random.nextInt(3)),
                                    random.nextInt(9) == 0 ? "4711" : "NULL");
            @Nullable String key = kind < 10 && random.nextInt(6) == 0 ? null : "k" + random.nextInt(3);
            ids.add(database.event("s" + random.nextInt(random.nextBoolean() ? 2 : 6), key, more));
        }
        return ids;
    }
}
