// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a loop has room for.
 *
 * @param rows at most this many events
 * @param bytes stop when their payloads add up to more than this; one event is always allowed
 * @param without streams to leave out
 * @param only this stream alone; {@code null}: all
 * @param closed those of {@code without} whose destination takes nothing; the others have only no room for so many
 * @param load how many of each stream count towards {@code rows} because they were taken before
 */
public record Demand(
        int rows,
        long bytes,
        Set<String> without,
        @Nullable String only,
        Set<String> closed,
        Map<String, Integer> load) {

    public static Demand of(int rows, long bytes, Set<String> without) {
        return new Demand(rows, bytes, without, null, without, Map.of());
    }

    /** A few events of one stream, to find out whether its destination answers again. */
    public static Demand trial(String stream, int rows, long bytes) {
        return new Demand(rows, bytes, Set.of(), stream, Set.of(), Map.of());
    }

    Demand closed(Set<String> closed) {
        return new Demand(rows, bytes, without, only, closed, load);
    }

    Demand beside(Map<String, Integer> load) {
        return new Demand(rows, bytes, without, only, closed, load);
    }
}
