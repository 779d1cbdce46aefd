// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;
import java.util.List;
import java.util.OptionalLong;

/**
 * Takes what this process has just committed and leased for itself. {@link #lessee}, {@link #ownsAll} and {@link #handOver}
 * are for any thread, the rest for that of its loop.
 *
 * <p>It writes no verdicts: what fails is given back, and the owner of its shard tries and judges it.
 */
public interface CommitIntake extends Intake {

    /**
     * In whose name this event may be leased now; empty while this relay is not sure of its own place, or has enough, or
     * could not send the last events of its key or stream.
     */
    OptionalLong lessee(OutboxEvent event);

    /** Whether all that is not leased is read by the other loops of this relay, and by nobody else. From any thread. */
    boolean ownsAll();

    /** These were committed; what of them is leased will be taken next. */
    void handOver(List<Bell.Handed> events);

    /** Gives back all but what is handed out: nothing more is taken for a while. */
    void giveBack();

    /** How many were delivered at their commit and settled. */
    long settledCount();
}
