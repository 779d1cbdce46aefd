// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

/**
 * The right to deliver an event because it was inserted with a lease.
 *
 * @param startBy the reading of the ticker from which on no send may be started
 */
record LeaseClaim(long startBy, boolean keepsHistory) implements RowClaim {

    @Override
    public boolean mayStart(long nanos) {
        return nanos - startBy < 0;
    }
}
