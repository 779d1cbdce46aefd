// SPDX-License-Identifier: Apache-2.0
package io.postrider;

import io.postrider.internal.Discretion;
import org.jspecify.annotations.Nullable;

/** Something the caller asked of Postrider could not be done; the message says what, to which thing, and what to do. */
public class OutboxException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public OutboxException(String message) {
        super(Discretion.withoutCredentials(message));
    }

    public OutboxException(String message, @Nullable Throwable cause) {
        super(Discretion.withoutCredentials(message), cause);
    }
}
