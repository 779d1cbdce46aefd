// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What a read brought.
 *
 * @param deliveries for each stream and key in the order in which they must be sent
 * @param more whether the read was cut off by its limits, so that reading on at once is worth while
 * @param nextDue in how long the next waiting event becomes due, if one is known
 * @param judged events that were not handed out but judged at once, and that is written
 * @param complete whether everything was looked at; if not, the rest can be once what is under way has been answered
 */
public record Taken(
        List<Delivery> deliveries, boolean more, Optional<Duration> nextDue, List<Verdict> judged, boolean complete) {

    /** A complete look, in which nothing was judged. */
    public Taken(List<Delivery> deliveries, boolean more, Optional<Duration> nextDue) {
        this(deliveries, more, nextDue, List.of(), true);
    }

    public static Taken nothing() {
        return new Taken(List.of(), false, Optional.empty());
    }
}
