// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.util.List;

/**
 * What a {@link Ledger} found when it compared what was committed with what was delivered.
 *
 * @param committed events whose transaction committed
 * @param delivered how many of them were delivered, each counted once
 * @param lost how many of them were not
 * @param ghosts events that were delivered and never committed
 * @param outOfOrder first deliveries that came after that of a later event of their key
 * @param duplicates deliveries of committed events beyond the first of each
 * @param notIdentical deliveries whose payload is not the one that was written, or that differ from the first one
 * @param offenders a description of the first few of each kind
 */
public record LedgerReport(
        long committed,
        long delivered,
        long lost,
        long ghosts,
        long outOfOrder,
        long duplicates,
        long notIdentical,
        List<String> offenders) {

    /** A report with its own copy of the descriptions. */
    public LedgerReport {
        offenders = List.copyOf(offenders);
    }

    /** The counts in one line; ghosts and altered deliveries are named only if there are any. */
    public String summary() {
        return summary(outOfOrder + " out of order");
    }

    /** The same for a stream that keeps no order, where it is no fault if an event comes before an earlier one of its key. */
    public String summaryInAnyOrder() {
        return summary("in any order");
    }

    private String summary(String order) {
        return committed + " committed · " + delivered + " delivered · " + lost + " lost · " + order + " · "
                + duplicates
                + " duplicates" + (ghosts == 0 ? "" : " · " + ghosts + " ghosts")
                + (notIdentical == 0 ? "" : " · " + notIdentical + " not identical");
    }

    /**
     * Checks that nothing was lost, invented, reordered or altered, and that there were not too many duplicates.
     *
     * @throws AssertionError with the summary and the first few offenders of each kind
     */
    public void assertSound(long maxDuplicates) {
        demand(outOfOrder == 0, maxDuplicates, summary());
    }

    /**
     * The same for a stream that keeps no order.
     *
     * @throws AssertionError with the summary and the first few offenders of each kind
     */
    public void assertSoundInAnyOrder(long maxDuplicates) {
        demand(true, maxDuplicates, summaryInAnyOrder());
    }

    private void demand(boolean ordered, long maxDuplicates, String summary) {
        if (lost > 0 || ghosts > 0 || !ordered || notIdentical > 0 || duplicates > maxDuplicates) {
            throw new AssertionError(
                    summary + " (at most " + maxDuplicates + " duplicates allowed)\n" + String.join("\n", offenders));
        }
    }
}
