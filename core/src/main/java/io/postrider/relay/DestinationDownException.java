// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The destination cannot take anything now (unreachable, unknown topic, not authorised, throttled), so the event is not
 * to blame: no attempt is counted, and the stream's gate closes until the destination answers again.
 */
public final class DestinationDownException extends PublishException {
    private static final long serialVersionUID = 1L;

    private final @Nullable Duration retryAfter;

    public DestinationDownException(String code, String message, @Nullable Throwable cause) {
        this(code, message, cause, null);
    }

    /** With the time that the destination itself asked for before the next try. */
    public DestinationDownException(
            String code, String message, @Nullable Throwable cause, @Nullable Duration retryAfter) {
        super(code, message, cause);
        this.retryAfter = retryAfter;
    }

    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }
}
