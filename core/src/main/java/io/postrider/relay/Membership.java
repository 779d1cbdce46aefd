// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxException;
import java.time.Duration;
import java.util.Set;
import java.util.function.LongConsumer;

/** A relay's place among those that share a feed. {@link #tick} and {@link #leave} are called by one thread. */
public interface Membership {

    /** What loop number {@code loop} takes its events from; for that loop's thread alone. */
    Intake intake(int loop);

    /**
     * What a loop takes from that sends events at their commit.
     *
     * @param passedOver called when the other loops should look for events: some that were handed over were not leased, or
     *     what they stood behind is settled
     * @throws OutboxException if this feed has no leases
     */
    default CommitIntake commits(Runnable passedOver) {
        throw new OutboxException(
                "This feed cannot publish on commit. Use wokenBy(..) instead of publishesOnCommit(..) for its relay.");
    }

    /**
     * Has {@code due} called, by whatever thread, with the nanoseconds until something of this relay's may be taken: 0 if it
     * may be now. Returns whether it will be; if not, the loops have to poll.
     */
    default boolean onDue(LongConsumer due) {
        return false;
    }

    /** How long after one {@link #tick} the next is due. */
    Duration tickEvery();

    /**
     * Renews the membership, and takes or gives up what a fair share asks for.
     *
     * @throws FeedException if the database cannot be reached; what was owned runs out by itself
     */
    void tick(Report report);

    /** Whether it still wants its share; if not, others get it once what is in flight is settled. */
    void wants(boolean share);

    /** Gives up everything and leaves. Call it when the loops have ended. */
    void leave();

    /**
     * What others may know of this relay.
     *
     * @param closed streams whose destination does not answer it
     */
    record Report(int inFlight, long published, Set<String> closed) {}
}
