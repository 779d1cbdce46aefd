// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * What was seen at one look, for {@link Condition}s to judge.
 *
 * @param at on the database's clock, before anything was read
 * @param bound where counts stop
 */
public record Situation(
        Instant at,
        long bound,
        List<Backlog.Stream> streams,
        List<Relays.Member> relays,
        List<Dead> dead,
        List<Held> held) {

    public Situation {
        streams = List.copyOf(streams);
        relays = List.copyOf(relays);
        dead = List.copyOf(dead);
        held = List.copyOf(held);
    }

    /**
     * The dead letters of a stream.
     *
     * @param more whether there may be more than were counted
     * @param newest when the last of them died
     */
    public record Dead(String stream, long count, boolean more, Instant newest) {}

    /**
     * The keys of a stream that are held for too long.
     *
     * @param longest the one held for longest
     * @param since for how long
     */
    public record Held(String stream, long keys, String longest, Duration since) {}

    String counted(long count) {
        return count >= bound ? bound + " or more" : String.valueOf(count);
    }
}
