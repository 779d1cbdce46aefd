// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** This attempt to deliver this event failed and another may succeed: counted, and retried by the {@link RetryPolicy}. */
public final class RetryableFailureException extends PublishException {
    private static final long serialVersionUID = 1L;

    private final @Nullable Duration retryAfter;

    public RetryableFailureException(String code, String message, @Nullable Throwable cause) {
        this(code, message, cause, null);
    }

    /** With a delay that replaces the policy's for this attempt; the attempt is counted as any other. */
    public RetryableFailureException(
            String code, String message, @Nullable Throwable cause, @Nullable Duration retryAfter) {
        super(code, message, cause);
        if (retryAfter != null && retryAfter.isNegative()) {
            throw new IllegalArgumentException("retryAfter is " + retryAfter + ". Give zero or more.");
        }
        this.retryAfter = retryAfter;
    }

    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }
}
