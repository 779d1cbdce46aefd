// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Delivery;
import io.postrider.relay.FeedException;
import io.postrider.relay.Settler;
import io.postrider.relay.Verdict;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The table of events as one loop uses it. Every call is a statement, or a few, each a transaction of its own; a call that
 * throws {@link FeedException} may have had its effect. For one thread.
 */
interface EventStore extends AutoCloseable {

    /**
     * What to read.
     *
     * @param shards owned shards and their epochs, at least one; the first is looked at first
     * @param depth at most so many rows of one shard and stream
     * @param orPart whether some part will do, of whatever depth, as long as it has the oldest of each of its keys
     */
    record Query(
            Map<Integer, Long> shards,
            Collection<Long> inFlight,
            int depth,
            int rows,
            long bytes,
            Set<String> without,
            @Nullable String only,
            boolean orPart) {

        /** The same but for one stream. */
        Query without(String stream) {
            Set<String> more = new HashSet<>(without);
            more.add(stream);
            return new Query(shards, inFlight, depth, rows, bytes, more, only, orPart);
        }

        /** The same, knowing that it will begin with this id. */
        Query from(long id) {
            return besides(inFlight.stream().filter(each -> each >= id).toList());
        }

        /** The same, but beside these. */
        Query besides(Collection<Long> others) {
            return new Query(shards, others, depth, rows, bytes, without, only, orPart);
        }

        /** The same of one stream alone, and of fewer rows. */
        Query sweeping(String stream, int rows) {
            return new Query(shards, inFlight, depth, rows, bytes, without, stream, orPart);
        }
    }

    /**
     * What a read found.
     *
     * @param owned the shards of the query that are owned, as far as this read had to see; those of deliveries for sure
     * @param holding those of them that have a held key
     * @param newStreams streams that nobody has registered yet
     * @param part whether there may be more, although the limits left room for it
     */
    record Found(
            List<Delivery> deliveries,
            Set<Integer> owned,
            Set<Integer> holding,
            Set<String> newStreams,
            Optional<Long> dueInMicros,
            boolean part) {}

    /**
     * What became of verdicts.
     *
     * @param written ids of the rows that were changed
     * @param owned the shards whose fence stood
     */
    record Judged(Set<Long> written, Set<Integer> owned) {}

    Found read(Query query);

    /** Something that was read, and left out of later reads, is to be found by them again. */
    default void released() {}

    /** Removes what is there as it was sent, into the history if its stream keeps one. */
    void settle(List<Delivery> published);

    /** One who does that beside the calls of this, if there is one. */
    default Optional<Settler> settler() {
        return Optional.empty();
    }

    /** Writes verdicts on rows that are as they were sent, in shards that are owned in the epoch of their claim. */
    Judged verdict(List<Verdict> verdicts);

    /** Makes these streams known, as those of this group, unless they are. */
    void register(Set<String> streams);

    /**
     * Notes, in the place of all before, that these are about to be sent, where their shards are owned in the epochs of
     * their claims; returns the ids of those that were noted and are still there.
     */
    Set<Long> mark(List<Delivery> suspects);

    /** Forgets that the owners of these shards have ended without a release, where they are owned in these epochs. */
    void calm(Map<Integer, Long> shards);

    @Override
    void close();
}
