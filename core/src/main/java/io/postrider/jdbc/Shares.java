// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.jdbc.ShardStore.Peer;
import io.postrider.jdbc.ShardStore.Seen;
import io.postrider.jdbc.ShardStore.Survey;
import io.postrider.jdbc.ShardStore.Wants;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a fair share asks of one relay, computed from what it has seen of its group.
 *
 * @param free shards to try to take, at most as many as are due to it
 * @param surplus how many to give up
 */
record Shares(List<Seen> free, int surplus) {

    /** @param owned how many shards it has */
    static Shares of(long me, Wants wants, Survey survey, int owned) {
        int quota = quota(me, wants, survey);
        Set<Long> present = new HashSet<>();
        survey.peers().forEach(peer -> present.add(peer.id()));
        List<Seen> free = survey.shards().stream()
                .filter(seen -> seen.owner() == 0 || !present.contains(seen.owner()))
                .limit(Math.max(0, quota - owned))
                .toList();
        return new Shares(free, Math.max(0, owned - quota));
    }

    private static int quota(long me, Wants wants, Survey survey) {
        int shards = survey.shards().size();
        return switch (wants) {
            case REST, CLAIMS -> 0;
            case DRAIN -> shards;
            case SHARDS -> {
                List<Long> others = survey.peers().stream()
                        .filter(peer -> peer.id() != me && peer.wants() == Wants.SHARDS && !peer.past())
                        .map(Peer::id)
                        .toList();
                int sharing = others.size() + 1;
                long before = others.stream().filter(id -> id < me).count();
                // What cannot be divided goes to those who came first, one each.
                yield shards / sharing + (before < shards % sharing ? 1 : 0);
            }
        };
    }
}
