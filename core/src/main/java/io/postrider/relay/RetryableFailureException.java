// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import org.jspecify.annotations.Nullable;

/** This attempt to deliver this event failed and another may succeed: counted, and retried by the {@link RetryPolicy}. */
public final class RetryableFailureException extends PublishException {
    private static final long serialVersionUID = 1L;

    public RetryableFailureException(String code, String message, @Nullable Throwable cause) {
        super(code, message, cause);
    }
}
