// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

/** Why a command is not carried out, in one line that says what to do. */
final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int exitCode;

    Refusal(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    int exitCode() {
        return exitCode;
    }
}
