// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * What a loop shares with the others of its relay.
 *
 * @param leasesCommits whether one of them sends leased events at their commit; these wait until the others have settled older
 *     ones of their keys
 */
record Shared(
        Window window,
        Judge judge,
        Gates gates,
        Told told,
        Duration answerTimeout,
        Slots slots,
        BooleanSupplier leasesCommits) {
    Shared(Window window, Judge judge, Gates gates, Told told, Duration answerTimeout) {
        this(window, judge, gates, told, answerTimeout, Slots.unlimited(), () -> false);
    }
}
