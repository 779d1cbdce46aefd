// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.internal.Discretion;

/** The feed could not do what it was asked, and nothing is known to be lost: it may be asked again. */
public final class FeedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public FeedException(String message, Throwable cause) {
        super(Discretion.withoutCredentials(message), cause);
    }
}
