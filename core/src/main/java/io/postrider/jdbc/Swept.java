// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Up to which id nothing is left to be swept: of this stream and these shards, all is gone or under way, and no smaller id can
 * appear any more. It is so until something that was under way is given back or judged, or a sweep finds that it may not bring
 * anything; and it is forgotten now and then, so that rows which somebody put there by hand are found.
 *
 * @param server the run of the server for which that holds
 * @param since when the first of these sweeps began
 */
record Swept(long server, String stream, Map<Integer, Long> shards, long to, long since) {
    private static final long FORGET_AFTER = Duration.ofSeconds(10).toNanos();

    /** Where the next one begins; empty: at the beginning. */
    static Optional<Long> next(Optional<Swept> swept, EventStore.Query query, Front front, long now) {
        return swept.filter(it -> it.server == front.server()
                        && it.stream.equals(query.only())
                        && it.shards.equals(query.shards())
                        && now - it.since < FORGET_AFTER)
                .map(it -> it.to + 1);
    }

    /**
     * After a sweep that began there.
     *
     * @param last the last that it brought; 0 if it brought none
     * @param sure up to which id nothing could appear any more when it began: what still could was perhaps not there when it passed
     */
    static Optional<Swept> after(
            Optional<Swept> swept, EventStore.Query query, Front front, long last, long sure, long now) {
        boolean goesOn = next(swept, query, front, now).isPresent();
        long to = Math.min(last, sure);
        long from = goesOn ? swept.get().to : 0;
        if (to <= from) {
            return goesOn ? swept : Optional.empty();
        }
        long since = goesOn ? swept.get().since : now;
        return Optional.of(
                new Swept(front.server(), String.valueOf(query.only()), Map.copyOf(query.shards()), to, since));
    }
}
