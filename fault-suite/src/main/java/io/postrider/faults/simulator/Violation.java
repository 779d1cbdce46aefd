// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

/** A promise was broken. An Error, so that nothing in the engine takes it for a failure of its own. */
public final class Violation extends AssertionError {
    private static final long serialVersionUID = 1L;

    Violation(String promise, String what) {
        super(promise + ": " + what);
    }
}
