// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.FeedException;
import io.postrider.relay.Membership;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The tables of relays and shards as one relay uses them. Every call is a statement and a transaction of its own; one that
 * throws {@link FeedException} may have had its effect. For one thread.
 */
interface ShardStore extends AutoCloseable {

    /** What a relay asks for. */
    enum Wants {
        SHARDS,
        REST,
        DRAIN,
        /** Events of competing streams, and no shards. */
        CLAIMS
    }

    /**
     * A relay as it was seen.
     *
     * @param past whether its lease has run out by the database's clock
     * @param closed streams whose destination does not answer it
     */
    record Peer(long id, long beat, Wants wants, boolean past, Duration ttl, Set<String> closed) {}

    /** A shard as it was seen; owner 0: nobody. */
    record Seen(int shard, long owner, long epoch) {}

    /** The group as it was seen; {@code renewed}: whether this relay still had its row, and has a fresh lease now. */
    record Survey(boolean renewed, List<Peer> peers, List<Seen> shards) {}

    /**
     * How a shard was left.
     *
     * @param unclean so many owners in a row ended without a release
     * @param newest the newest id when the first of them had ended
     */
    record Left(int unclean, long newest) {}

    /**
     * Shards that were taken.
     *
     * @param epochs their new epochs
     * @param left those whose last owner ended without a release
     */
    record Won(Map<Integer, Long> epochs, Map<Integer, Left> left) {}

    /** Makes a new relay, which owns nothing yet; returns its number. */
    long join(String name, Wants wants);

    /** Renews the lease of a relay that still has its row, and shows its group as it was before. */
    Survey tick(long me, Wants wants, Membership.Report report);

    /** Removes the row of a relay that has not moved since it was seen; returns whether it was there so. */
    boolean declareDead(Peer peer, boolean unmoved);

    /**
     * Takes those that are still as they were seen and whose owner is gone; the event that such an owner had marked has
     * one more death to its name.
     */
    Won take(long me, List<Seen> free);

    /** Gives up those that are still owned in these epochs. */
    void release(long me, Map<Integer, Long> shards);

    void leave(long me);

    @Override
    void close();
}
