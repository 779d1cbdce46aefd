// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.ops.Actor;
import picocli.CommandLine.Option;

/** Who changes something and why, for the audit table. */
final class Signature {
    @Option(names = "--as", paramLabel = "NAME", description = "Who you are; kept in the audit table.")
    private String who = "";

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why; kept in the audit table.")
    private String why = "";

    Actor actor() {
        if (who.isBlank() || why.isBlank()) {
            throw new Refusal(
                    Exit.USAGE,
                    "Who changes something and why goes to the audit table. Give --as NAME and --reason TEXT.");
        }
        return new Actor(who, why);
    }
}
