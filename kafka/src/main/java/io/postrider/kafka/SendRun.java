// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import org.jspecify.annotations.Nullable;

/**
 * Sends of one key, one behind the other. All that are unanswered are on one producer, which sends one request at a time
 * and is stopped when one of them fails before others; so nothing is delivered behind a failure. Thread-safe.
 */
final class SendRun {
    private @Nullable Object producer;
    private int unanswered;
    private boolean broken;

    /** Whether the next send may be handed to this producer; if so, it counts as unanswered from now on. */
    synchronized boolean enter(Object producer) {
        broken |= unanswered > 0 && this.producer != producer;
        if (broken) {
            return false;
        }
        this.producer = producer;
        unanswered++;
        return true;
    }

    /** The send was answered, or was not taken by the producer after all. */
    synchronized void leave() {
        unanswered--;
    }

    /** A send failed: nothing more may follow. */
    synchronized void end() {
        broken = true;
    }

    /** Whether sends are on the producer still; once {@link #end}ed, they must not go out. */
    synchronized boolean hasUnanswered() {
        return unanswered > 0;
    }
}
