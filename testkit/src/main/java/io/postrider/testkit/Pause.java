// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.util.concurrent.TimeUnit;

/** The step between two looks at something that sends no signal of its own. */
final class Pause {
    private Pause() {}

    /** Sleeps; an interrupt ends it with an {@link IllegalStateException} and stays set. */
    static void millis(long millis) {
        nanos(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    static void nanos(long nanos) {
        try {
            TimeUnit.NANOSECONDS.sleep(nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting", e);
        }
    }
}
