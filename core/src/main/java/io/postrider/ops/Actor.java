// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

/** Who does something by hand, and why; both are kept in the audit table. */
public record Actor(String who, String why) {

    public Actor {
        if (who.isBlank() || why.isBlank()) {
            throw new IllegalArgumentException(
                    "Who acts and why goes to the audit table. Give both, not '" + who + "', '" + why + "'.");
        }
    }
}
