// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import org.jspecify.annotations.Nullable;

/** A failed delivery with a short code for machines and a message for people; neither may contain payload or secrets. */
public abstract sealed class PublishException extends RuntimeException
        permits PermanentFailureException,
                RetryableFailureException,
                UnknownOutcomeException,
                DestinationDownException,
                NotSentException {
    private static final long serialVersionUID = 1L;

    private final String code;

    protected PublishException(String code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /** A short name such as {@code RECORD_TOO_LARGE}, the same for all failures of one kind. */
    public final String code() {
        return code;
    }
}
