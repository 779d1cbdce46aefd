// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.jdbc.ShardStore.Peer;
import io.postrider.jdbc.ShardStore.Seen;
import io.postrider.jdbc.ShardStore.Survey;
import io.postrider.jdbc.ShardStore.Wants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SharesTest {
    private static final int SHARDS = 256;

    @Test
    void sharesDifferByOneAtMostAndAddUpToEverything() {
        for (int relays = 1; relays <= 300; relays += relays < 20 ? 1 : 7) {
            List<Peer> peers = peers(relays);
            Survey survey = new Survey(true, peers, allFree());
            IntSummaryStatistics due = peers.stream()
                    .mapToInt(peer ->
                            Shares.of(peer.id(), Wants.SHARDS, survey, 0).free().size())
                    .summaryStatistics();
            assertThat(due.getSum()).as("%s relays", relays).isEqualTo(SHARDS);
            assertThat(due.getMax() - due.getMin()).as("%s relays", relays).isLessThanOrEqualTo(1);
        }
    }

    @Test
    void oneThatHasMoreThanItsShareGivesTheSurplusUp() {
        Shares shares = Shares.of(1, Wants.SHARDS, new Survey(true, peers(2), owned(1, 256)), 256);
        assertThat(shares.surplus()).isEqualTo(128);
        assertThat(shares.free()).isEmpty();
        assertThat(Shares.of(1, Wants.SHARDS, new Survey(true, peers(3), allFree()), 86)
                        .surplus())
                .as("86 of 256 is a fair third")
                .isZero();
    }

    @Test
    void onlyWhatNobodyAliveOwnsIsFreeAndNoMoreThanIsDue() {
        List<Seen> shards = new ArrayList<>();
        shards.add(new Seen(0, 1, 5));
        shards.add(new Seen(1, 2, 5));
        shards.add(new Seen(2, 0, 5));
        shards.add(new Seen(3, 99, 5));
        shards.add(new Seen(4, 2, 5));
        shards.add(new Seen(5, 2, 5));
        Shares shares = Shares.of(1, Wants.SHARDS, new Survey(true, peers(2), shards), 1);
        assertThat(shares.free()).containsExactly(new Seen(2, 0, 5), new Seen(3, 99, 5));
        assertThat(Shares.of(1, Wants.SHARDS, new Survey(true, peers(2), allFree()), 127)
                        .free())
                .hasSize(1);
        assertThat(Shares.of(1, Wants.SHARDS, new Survey(true, peers(2), allFree()), 128)
                        .free())
                .isEmpty();
    }

    @Test
    void oneThatRestsIsDueNothing() {
        Shares shares = Shares.of(1, Wants.REST, new Survey(true, peers(1), allFree()), 40);
        assertThat(shares.free()).isEmpty();
        assertThat(shares.surplus()).isEqualTo(40);
    }

    @Test
    void onePassTakesAllThatIsFree() {
        List<Seen> shards = owned(2, 200);
        IntStream.range(200, 256).forEach(shard -> shards.add(new Seen(shard, 0, 0)));
        Shares shares = Shares.of(1, Wants.DRAIN, new Survey(true, peers(2), shards), 0);
        assertThat(shares.free()).hasSize(56);
        assertThat(shares.surplus()).isZero();
    }

    @Test
    void onlyLiveRelaysThatWantSharesAreCounted() {
        List<Peer> peers = List.of(
                peer(1, Wants.SHARDS, false),
                peer(2, Wants.SHARDS, true),
                peer(3, Wants.REST, false),
                peer(4, Wants.DRAIN, false),
                peer(5, Wants.SHARDS, false));
        assertThat(Shares.of(1, Wants.SHARDS, new Survey(true, peers, allFree()), 0)
                        .free())
                .hasSize(128);
    }

    @Test
    void whatOneWhoseLeaseRanOutOwnsIsNotFreeBeforeItIsDeclaredDead() {
        List<Peer> peers = List.of(peer(1, Wants.SHARDS, false), peer(2, Wants.SHARDS, true));
        assertThat(Shares.of(1, Wants.SHARDS, new Survey(true, peers, owned(2, 256)), 0)
                        .free())
                .isEmpty();
    }

    private static List<Peer> peers(int relays) {
        return IntStream.rangeClosed(1, relays)
                .mapToObj(id -> peer(id, Wants.SHARDS, false))
                .toList();
    }

    private static Peer peer(long id, Wants wants, boolean past) {
        return new Peer(id, 0, wants, past, Duration.ofSeconds(8), Set.of());
    }

    private static List<Seen> allFree() {
        return owned(0, SHARDS);
    }

    private static List<Seen> owned(long owner, int shards) {
        List<Seen> seen = new ArrayList<>();
        IntStream.range(0, shards).forEach(shard -> seen.add(new Seen(shard, owner, 0)));
        return seen;
    }
}
