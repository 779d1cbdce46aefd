// SPDX-License-Identifier: Apache-2.0
package io.postrider.orders;

/** It cannot be done as things are; whatever the transaction has done, data and events, is taken back. */
class OrderConflictException extends RuntimeException {
    private static final long serialVersionUID = 1;

    OrderConflictException(String message) {
        super(message);
    }
}
