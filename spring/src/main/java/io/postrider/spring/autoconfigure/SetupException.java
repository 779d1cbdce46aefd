// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.OutboxException;
import org.jspecify.annotations.Nullable;

/** The application cannot start as it is set up; says what to change. */
final class SetupException extends OutboxException {
    private static final long serialVersionUID = 1L;

    private final String action;

    SetupException(String description, String action) {
        this(description, action, null);
    }

    SetupException(String description, String action, @Nullable Throwable cause) {
        super(description, cause);
        this.action = action;
    }

    String action() {
        return action;
    }
}
