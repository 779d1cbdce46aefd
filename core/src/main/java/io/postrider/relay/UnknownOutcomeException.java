// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import org.jspecify.annotations.Nullable;

/**
 * This attempt may or may not have had its effect, and to repeat it blindly could do harm: the event becomes unknown, is not
 * tried again by itself, and waits until somebody has found out, with {@code Unknowns}.
 */
public final class UnknownOutcomeException extends PublishException {
    private static final long serialVersionUID = 1L;

    public UnknownOutcomeException(String code, String message, @Nullable Throwable cause) {
        super(code, message, cause);
    }
}
