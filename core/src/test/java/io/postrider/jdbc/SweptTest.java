// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SweptTest {
    private static final Map<Integer, Long> SHARDS = Map.of(1, 1L, 2, 1L);

    private final Front front = new Front();
    private final EventStore.Query query = query("s", SHARDS);
    private Optional<Swept> swept = Optional.empty();
    private long now = 7;

    SweptTest() {
        hear(1);
    }

    @Test
    void theNextSweepBeginsBehindTheLastThatWasBrought() {
        sweep(query, 50, 100);
        assertThat(next(query)).contains(51L);
        sweep(query, 80, 100);
        assertThat(next(query)).contains(81L);
    }

    @Test
    void butNotBehindWhatWasSureBeforeItBegan() {
        sweep(query, 50, 0);
        assertThat(next(query)).isEmpty();
        sweep(query, 50, 30);
        assertThat(next(query)).contains(31L);
        sweep(query, 90, 60);
        assertThat(next(query)).contains(61L);
        sweep(query, 120, 60);
        assertThat(next(query)).contains(61L);
    }

    @Test
    void itHoldsForThisStreamTheseShardsInTheseEpochsAndThisServer() {
        sweep(query, 50, 100);
        assertThat(next(query("t", SHARDS))).isEmpty();
        assertThat(next(query("s", Map.of(1, 1L, 2, 2L)))).isEmpty();
        assertThat(next(query("s", Map.of(1, 1L, 2, 1L, 3, 1L)))).isEmpty();
        assertThat(next(query("s", Map.of(1, 1L)))).isEmpty();
        assertThat(next(query)).contains(51L);
        hear(2);
        assertThat(next(query)).isEmpty();
    }

    @Test
    void itIsForgottenTenSecondsAfterItBegan() {
        sweep(query, 50, 100);
        now += Duration.ofSeconds(9).toNanos();
        sweep(query, 60, 100);
        now += Duration.ofSeconds(1).toNanos() - 1;
        assertThat(next(query)).contains(61L);
        now++;
        assertThat(next(query)).isEmpty();
        sweep(query, 20, 100);
        assertThat(next(query)).as("from the beginning again").contains(21L);
    }

    private void sweep(EventStore.Query of, long last, long sure) {
        swept = Swept.after(swept, of, front, last, sure, now);
    }

    private Optional<Long> next(EventStore.Query of) {
        return Swept.next(swept, of, front, now);
    }

    private void hear(long server) {
        front.hear(new Front.Writing(server, Set.of(), 0), now);
    }

    private static EventStore.Query query(String stream, Map<Integer, Long> shards) {
        return new EventStore.Query(shards, Set.of(), 10, 10, 10, Set.of(), stream, true);
    }
}
