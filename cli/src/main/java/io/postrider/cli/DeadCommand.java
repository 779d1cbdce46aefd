// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import picocli.CommandLine.Command;

@Command(
        name = "dead",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = "Dead letters: events that are not tried again unless a person says so.",
        subcommands = {
            DeadListCommand.class,
            DeadShowCommand.class,
            DeadRequeueCommand.class,
            DeadEditCommand.class,
            DeadDiscardCommand.class,
            DeadUnholdCommand.class
        })
final class DeadCommand {
    DeadCommand(Console console) {}
}
