// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.util.List;
import java.util.stream.IntStream;

/**
 * In which order a claim looks at the shards: from {@code first} to {@code last} of each span, at most {@code depth} rows of
 * each.
 */
record Spans(List<Integer> first, List<Integer> last, int depth) {

    /** All shards from this one on, and round: two steps in the index, whatever is there. */
    static Spans round(int shard, int rows) {
        return shard == 0
                ? new Spans(List.of(0), List.of(Ownership.SHARDS - 1), rows)
                : new Spans(List.of(shard, 0), List.of(Ownership.SHARDS - 1, shard - 1), rows);
    }

    /** Some of each shard, from this one on: the oldest come first, roughly, and stand close together in the table. */
    static Spans abreast(int shard, int rows) {
        List<Integer> turned = IntStream.range(0, Ownership.SHARDS)
                .map(i -> (shard + i) & (Ownership.SHARDS - 1))
                .boxed()
                .toList();
        return new Spans(turned, turned, rows * 5 / 4 / Ownership.SHARDS + 1);
    }
}
