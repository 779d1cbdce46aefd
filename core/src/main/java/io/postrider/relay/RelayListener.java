// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;
import java.time.Duration;

/**
 * Told what happens to events, for metrics and alerts: after it is in the database, by a thread of the relay, so it must
 * be quick and thread-safe. What it throws is logged and goes no further.
 */
public interface RelayListener {

    /** Delivered and settled. {@code took}: from the start of the send to the answer. */
    default void published(OutboxEvent event, Duration took) {}

    /** Failed, and due again after {@code delay}; {@code failed} attempts so far. */
    default void retrying(OutboxEvent event, int failed, Duration delay, String code, String message) {}

    /** Failed for good after {@code failed} attempts. */
    default void dead(OutboxEvent event, int failed, String code, String message) {}

    /** May or may not have had its effect, with its {@code failed}th attempt: not tried again until somebody has found out. */
    default void unknown(OutboxEvent event, int failed, String code, String message) {}

    /** The stream's destination does not take anything; its events wait and lose no attempt. */
    default void outageStarted(String stream, String code, String message) {}

    /** The stream's destination answers again. */
    default void outageEnded(String stream, Duration lasted) {}
}
