// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.jdbc.ShardStore.Peer;
import io.postrider.jdbc.ShardStore.Wants;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class StandBackTest {
    private static final Set<String> CLOSED = Set.of("s");
    private static final List<Peer> REACHES = List.of(peer(Wants.SHARDS, false, Set.of("t")));

    private final StandBack standBack = new StandBack();

    @Test
    void afterThirtySecondsOfAnOutageThatOthersDoNotHaveItStandsBackForThirty() {
        assertThat(at(0, CLOSED, REACHES)).isFalse();
        assertThat(at(30, CLOSED, REACHES)).isFalse();
        assertThat(at(31, CLOSED, REACHES)).isTrue();
        assertThat(at(60, CLOSED, REACHES)).isTrue();
        assertThat(at(61, CLOSED, REACHES)).isFalse();
        assertThat(at(91, CLOSED, REACHES)).as("it is given its time again").isFalse();
        assertThat(at(92, CLOSED, REACHES)).isTrue();
    }

    @Test
    void itStaysWhenNobodyElseReachesTheDestination() {
        List<Peer> others = List.of(
                peer(Wants.SHARDS, false, CLOSED),
                peer(Wants.SHARDS, true, Set.of()),
                peer(Wants.REST, false, Set.of()),
                peer(Wants.DRAIN, false, Set.of()));
        assertThat(at(0, CLOSED, others)).isFalse();
        assertThat(at(100, CLOSED, others)).isFalse();
        assertThat(at(200, CLOSED, List.of())).isFalse();
    }

    @Test
    void aGateThatOpenedBetweenStartsTheTimeAnew() {
        at(0, CLOSED, REACHES);
        at(20, Set.of(), REACHES);
        at(25, CLOSED, REACHES);
        assertThat(at(50, CLOSED, REACHES)).isFalse();
        assertThat(at(56, CLOSED, REACHES)).isTrue();
    }

    @Test
    void withoutAnOutageNobodyStandsBack() {
        assertThat(at(0, Set.of(), REACHES)).isFalse();
        assertThat(at(1_000, Set.of(), REACHES)).isFalse();
    }

    private boolean at(long seconds, Set<String> closed, List<Peer> others) {
        return standBack.now(closed, others, Duration.ofSeconds(seconds).toNanos());
    }

    private static Peer peer(Wants wants, boolean past, Set<String> closed) {
        return new Peer(2, 0, wants, past, Duration.ofSeconds(8), closed);
    }
}
