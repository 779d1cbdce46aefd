// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

/** Unwinds the stack of a relay that is no more; an Error, so that nothing in the engine catches it. */
final class Crash extends Error {
    private static final long serialVersionUID = 1L;

    Crash() {
        super("The relay crashed", null, false, false);
    }
}
