// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.jdbc.ShardStore.Peer;
import io.postrider.jdbc.ShardStore.Wants;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Has a relay give its share to others while it alone cannot reach a destination: after a stream's gate has been closed
 * here for 30 s and is open elsewhere, it stands back for 30 s. For one thread.
 */
final class StandBack {
    private static final long PATIENCE = Duration.ofSeconds(30).toNanos();

    private final Map<String, Long> closedSince = new HashMap<>();
    private boolean standing;
    private long until;

    /** Whether to stand back now. */
    boolean now(Set<String> closed, List<Peer> others, long nanos) {
        closedSince.keySet().retainAll(closed);
        closed.forEach(stream -> closedSince.putIfAbsent(stream, nanos));
        if (standing && nanos - until < 0) {
            return true;
        }
        boolean was = standing;
        standing = !was
                && closedSince.entrySet().stream()
                        .anyMatch(entry ->
                                nanos - entry.getValue() > PATIENCE && isOpenElsewhere(entry.getKey(), others));
        until = nanos + PATIENCE;
        if (was) {
            // Back again: the destination gets its time before the next retreat.
            closedSince.replaceAll((stream, since) -> nanos);
        }
        return standing;
    }

    private static boolean isOpenElsewhere(String stream, List<Peer> others) {
        return others.stream()
                .anyMatch(peer -> peer.wants() == Wants.SHARDS
                        && !peer.past()
                        && !peer.closed().contains(stream));
    }
}
