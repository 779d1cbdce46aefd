// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import java.time.Duration;

/**
 * For how long a consumer surely has its place in its group, whoever reaches the brokers: others get its partitions when the
 * coordinator has not heard of it for a session, and that it heard of it, and still knew it, its answer to a commit says.
 * The session begins no earlier than the commit was sent. Written by the consumer's thread, read by all.
 */
final class GroupPlace {
    private final long lasts;
    private final long askEvery;
    private volatile long confirmedAt;

    GroupPlace(Duration session) {
        // A quarter less: with the broker's own protocol a commit prolongs nothing, and the last heartbeat was before
        // it.
        lasts = session.multipliedBy(3).dividedBy(4).toNanos();
        askEvery = session.dividedBy(4).toNanos();
        confirmedAt = System.nanoTime() - session.toNanos();
    }

    boolean isSure(long nanos) {
        return nanos - confirmedAt < lasts;
    }

    /** Whether the coordinator should be asked again, so that a few answers may be late. */
    boolean isToBeAsked(long nanos) {
        return nanos - confirmedAt >= askEvery;
    }

    /** @param sentAt when the commit was sent, or before */
    void confirm(long sentAt) {
        confirmedAt = sentAt;
    }
}
