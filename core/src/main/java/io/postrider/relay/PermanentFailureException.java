// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import org.jspecify.annotations.Nullable;

/**
 * A publisher's word that this event can never be delivered as it is: too large, not serialisable, refused for what it
 * says. The event is dead at once.
 */
public final class PermanentFailureException extends PublishException {
    private static final long serialVersionUID = 1L;

    public PermanentFailureException(String code, String message, @Nullable Throwable cause) {
        super(code, message, cause);
    }

    public PermanentFailureException(String code, String message) {
        this(code, message, null);
    }
}
