// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Delivery;
import io.postrider.relay.FeedException;
import io.postrider.relay.Verdict;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * The leased rows of the table of events as the loop uses them that sends events at their commit. Every call is a statement,
 * or a few, each a transaction of its own; one that throws {@link FeedException} may have had its effect. For one thread.
 */
interface LeaseStore extends AutoCloseable {

    /**
     * What a read found.
     *
     * @param sendable of each key the oldest come first, and nothing undelivered is older but what is in flight
     * @param barred leased as well, but behind something that is not this relay's to send
     * @param barredStreams of those, streams that are paused or not this relay's to serve
     * @param newStreams streams that nobody has registered yet
     */
    record Found(List<Delivery> sendable, List<Delivery> barred, Set<String> barredStreams, Set<String> newStreams) {}

    /**
     * Reads those of these events that are leased by this relay, and what is older of their keys and leased as well.
     *
     * @param inFlight ids of rows to leave out
     */
    Found read(Collection<UUID> events, Collection<Long> inFlight);

    /** Removes what is there as it was sent, into the history if its stream keeps one. */
    void settle(List<Delivery> published);

    /**
     * Has the leases of these, which are under way, begin anew; returns those that had not run out, and at which reading of the
     * ticker this is due again.
     */
    Map<Long, Long> extend(Collection<Long> ids);

    /** Notes of these that their outcome is unknown, if they are as they were sent and their leases have not run out. */
    Set<Long> unknown(List<Verdict> verdicts);

    /** Leaves these to the owners of their shards, unless they have come to them already. */
    void release(Collection<Long> ids);

    /** Leaves all that this relay has leased to the owners of their shards, except for these. */
    void releaseAllBut(Collection<Long> ids);

    /** Makes these streams known, as those of this group, unless they are. */
    void register(Set<String> streams);

    @Override
    void close();
}
