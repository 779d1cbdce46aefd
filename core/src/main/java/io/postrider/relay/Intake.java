// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.List;
import java.util.Optional;

/**
 * One loop's view of the feed; for one thread. It remembers what it has handed out and does not hand it out again until
 * that is settled, judged or released. Each method is one statement or none, and throws {@link FeedException} if the
 * database cannot be reached; the same call may then be made again.
 */
public interface Intake extends AutoCloseable {

    /** Reads what may be sent now. */
    Taken take(Demand demand);

    /**
     * Removes what was acknowledged. Success is a fact, so it needs no claim any more; what is not there is passed over.
     */
    void settle(List<Delivery> published);

    /** Forgets what others have settled, such as its publisher or its {@link #settler}; no statement. */
    void settled(List<Delivery> gone);

    /** One who settles beside what this reads; none if nothing may overlap. */
    default Optional<Settler> settler() {
        return Optional.empty();
    }

    /** Writes what shall become of failed deliveries, where this relay is still entitled to; returns what it wrote. */
    List<Verdict> verdict(List<Verdict> verdicts);

    /** Gives deliveries back as if they had never been taken; if that is a statement, {@link #writeReleases} makes it. */
    void release(List<Delivery> deliveries);

    /** Writes what was released, if that has to be written and is not yet, and what keeps the claims to the others. */
    default void writeReleases() {}

    /** Whether events of one key come in order and must be sent so; if not, each may go beside all others. */
    default boolean keepsOrder() {
        return true;
    }

    /** Whether something that may be sent now is left to later reads, such as what shares a shard with a held key. */
    default boolean putsOff() {
        return false;
    }

    /** How many are handed out. */
    int size();

    @Override
    void close();
}
