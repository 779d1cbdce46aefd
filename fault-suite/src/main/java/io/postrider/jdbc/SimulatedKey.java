// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.faults.simulator.Tables.Status;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The rows of one key as the statements of {@link io.postrider.internal.LeaseSql} see them.
 *
 * @param rows all that the statement sees, of whatever key, in the order of their ids
 */
record SimulatedKey(Collection<EventRow> rows, EventRow of) {
    /** A hundred in the product: so few that here it is reached now and then. */
    private static final int LOOKED_AT = 6;

    Stream<EventRow> holding() {
        return rows.stream().filter(row -> row.holds() && isSame(row));
    }

    /** The oldest that holds the key and is not leased by this relay, or whose lease ends too soon; else the largest. */
    long firstHolding(Predicate<EventRow> isLeased) {
        return holding()
                .filter(row -> !isLeased.test(row))
                .mapToLong(EventRow::id)
                .findFirst()
                .orElse(Long.MAX_VALUE);
    }

    /** The oldest pending row that may be of this key, or the largest if there is none. */
    long oldestPending() {
        List<EventRow> pending = rows.stream()
                .filter(row -> row.status() == Status.PENDING
                        && row.id() <= of.id()
                        && row.shard() == of.shard()
                        && row.event().stream().equals(of.event().stream()))
                .limit(LOOKED_AT)
                .toList();
        return pending.stream()
                .filter(row -> isSame(row) || pending.size() == LOOKED_AT)
                .mapToLong(EventRow::id)
                .findFirst()
                .orElse(Long.MAX_VALUE);
    }

    private boolean isSame(EventRow row) {
        return row.shard() == of.shard()
                && row.event().stream().equals(of.event().stream())
                && row.event().key().equals(of.event().key());
    }
}
