// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

/**
 * This event was not sent, or may not have been, because of what befell another one: nobody is to blame, no attempt is
 * counted, and it is read and sent again.
 */
public final class NotSentException extends PublishException {
    private static final long serialVersionUID = 1L;

    public NotSentException(String code, String message) {
        super(code, message, null);
    }
}
