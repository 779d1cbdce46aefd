// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

/** What a user may do; each may do what those before it may. */
public enum Role {
    /** Looks, but sees neither payloads nor the values of headers. */
    VIEWER,
    /** Sees what events say; requeues, unholds, pauses and resumes. */
    OPERATOR,
    /** Edits and discards. */
    ADMIN;

    boolean includes(Role needed) {
        return compareTo(needed) >= 0;
    }
}
