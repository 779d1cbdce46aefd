// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

/** Who asks. The name goes to the audit table with everything that is changed. */
public record User(String name, Role role) {

    public User {
        if (name.isBlank()) {
            throw new IllegalArgumentException("A user has a name: it goes to the audit table.");
        }
    }
}
