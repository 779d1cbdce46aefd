// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import io.postrider.relay.FeedException;
import io.postrider.relay.Verdict;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ReadAheadTest {
    private static final Map<Integer, Long> SHARDS = Map.of(1, 1L);

    private final List<String> asked = new ArrayList<>();
    private final Deque<Runnable> later = new ArrayDeque<>();
    private final Table table = new Table();
    private final Ownership ownership = new Ownership();
    private final Set<Long> inFlight = new HashSet<>();
    private long now = 11;
    private final ReadAhead reads = new ReadAhead(table, this::atOnce, () -> now);
    private boolean isLate;

    private void atOnce(Runnable read) {
        if (isLate) {
            later.add(read);
        } else {
            read.run();
        }
    }

    @Test
    void theNextPartOfABacklogIsThereWhenItIsAskedFor() {
        assertThat(take()).containsExactly(1L, 2L, 3L);
        assertThat(asked).containsExactly("read without []", "read without [1, 2, 3]");
        assertThat(take()).containsExactly(4L, 5L, 6L);
        assertThat(asked).hasSize(3).last().isEqualTo("read without [1, 2, 3, 4, 5, 6]");
    }

    @Test
    void whatIsNotPartOfABacklogIsReadWhenItIsAskedFor() {
        table.part = false;
        take();
        take();
        assertThat(asked).containsExactly("read without []", "read without [1, 2, 3]");
    }

    @Test
    void thatThereIsNothingMoreMustBeTrueWhenItIsAskedFor() {
        take();
        table.part = false;
        take();
        asked.clear();
        take();
        assertThat(asked)
                .as("read when asked, and not ahead")
                .containsExactly("released", "read without [1, 2, 3, 4, 5, 6]");
    }

    @Test
    void whatWasReadBeforeSomethingWasGivenBackIsForgotten() {
        take();
        inFlight.remove(2L);
        reads.released();
        assertThat(take()).containsExactly(2L, 4L, 5L);
        assertThat(asked).contains("released");
    }

    @Test
    void whatWasReadAlthoughItHadBeenDeliveredBeforeIsForgotten() {
        take();
        reads.settle(table.read(query(SHARDS, 1, 100, Set.of(), null)).deliveries());
        table.first = 5;
        assertThat(take()).as("4 was settled after it had been read ahead").containsExactly(5L, 6L, 7L);
    }

    @Test
    void whatWasReadBeforeAVerdictIsForgotten() {
        take();
        reads.verdict(List.of());
        table.first = 5;
        assertThat(take()).containsExactly(5L, 6L, 7L);
    }

    @Test
    void whatWasReadForSomethingElseIsForgotten() {
        for (EventStore.Query other : List.of(
                query(SHARDS, 2, 100, Set.of(), null),
                query(SHARDS, 3, 99, Set.of(), null),
                query(SHARDS, 3, 100, Set.of("s"), null),
                query(SHARDS, 3, 100, Set.of(), "s"),
                query(Map.of(1, 2L), 3, 100, Set.of(), null),
                query(Map.of(1, 1L, 2, 1L), 3, 100, Set.of(), null))) {
            take();
            asked.clear();
            reads.read(other);
            assertThat(asked).as(other.toString()).startsWith("released", "read without " + sorted(inFlight));
            reads.released();
        }
    }

    @Test
    void whatWasReadASecondAgoIsForgotten() {
        take();
        now += Duration.ofSeconds(1).toNanos() - 1;
        take();
        assertThat(asked).doesNotContain("released");
        now += Duration.ofSeconds(1).toNanos();
        take();
        assertThat(asked).contains("released");
    }

    @Test
    void whatCouldNotBeReadIsReadWhenItIsAskedFor() {
        take();
        isLate = true;
        take();
        table.failing = true;
        later.remove().run();
        table.failing = false;
        isLate = false;
        assertThat(take()).containsExactly(7L, 8L, 9L);
    }

    @Test
    void otherStatementsWaitForItsEnd() {
        isLate = true;
        take();
        Thread reader = new Thread(() -> {
            asked.add("ends");
            later.remove().run();
        });
        asked.clear();
        reader.start();
        reads.settle(List.of());
        assertThat(asked).containsExactly("ends", "read without [1, 2, 3]", "settle");
        isLate = false;
        assertThat(take()).as("it still holds").containsExactly(4L, 5L, 6L);
    }

    private List<Long> take() {
        List<Long> ids = reads.read(query(SHARDS, 3, 100, Set.of(), null)).deliveries().stream()
                .map(Delivery::id)
                .toList();
        inFlight.addAll(ids);
        return ids;
    }

    private EventStore.Query query(
            Map<Integer, Long> shards,
            int rows,
            long bytes,
            Set<String> without,
            @org.jspecify.annotations.Nullable String only) {
        return new EventStore.Query(shards, inFlight, rows, rows, bytes, without, only, true);
    }

    private static List<Long> sorted(Set<Long> ids) {
        return ids.stream().sorted().toList();
    }

    /** Events without end. */
    private final class Table implements EventStore {
        private long first = 1;
        private boolean part = true;
        private boolean failing;

        @Override
        public Found read(Query query) {
            asked.add("read without " + query.inFlight().stream().sorted().toList());
            if (failing) {
                throw new FeedException("The table is out of reach", new IllegalStateException());
            }
            List<Delivery> found = LongStream.iterate(first, id -> id + 1)
                    .filter(id -> !query.inFlight().contains(id))
                    .limit(query.rows())
                    .mapToObj(this::delivery)
                    .toList();
            return new Found(found, query.shards().keySet(), Set.of(), Set.of(), Optional.empty(), part);
        }

        private Delivery delivery(long id) {
            OutboxEvent event =
                    OutboxEvent.of("s", "T").id(new UUID(0, id)).key("k" + id).build();
            return new Delivery(id, 0, 0, event, new ShardClaim(1, 1, false, 0, ownership));
        }

        @Override
        public void released() {
            asked.add("released");
        }

        @Override
        public void settle(List<Delivery> published) {
            asked.add("settle");
        }

        @Override
        public Judged verdict(List<Verdict> verdicts) {
            return new Judged(Set.of(), Set.of());
        }

        @Override
        public void register(Set<String> streams) {}

        @Override
        public Set<Long> mark(List<Delivery> suspects) {
            return Set.of();
        }

        @Override
        public void calm(Map<Integer, Long> shards) {}

        @Override
        public void close() {}
    }
}
