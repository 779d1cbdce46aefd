// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import java.util.List;

/**
 * One statement under READ COMMITTED, in the steps between which others may go on: it looks at a snapshot, waits for the
 * locks of the rows that it found there, tests their latest version again, writes and commits.
 *
 * @param <T> what it returns
 */
public abstract class Statement<T> {
    /** A row to be locked; two shared locks do not exclude each other. */
    public record Lock(String table, long row, boolean shared) {}

    /** Looks at what is committed; the snapshot never changes. */
    protected abstract void look(Tables snapshot, long now);

    /** What it must lock of what it saw, in this order. */
    protected List<Lock> locks() {
        return List.of();
    }

    /** The locks are held: which of the rows are still as they must be? */
    protected void recheck(Tables latest, long now) {}

    /** Changes the tables, which are committed at once, and returns what the client hears. */
    protected abstract T write(Tables tables, long now);
}
