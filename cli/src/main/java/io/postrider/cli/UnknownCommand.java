// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import picocli.CommandLine.Command;

@Command(
        name = "unknown",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = "Events that may or may not have had their effect, and wait until somebody has found out.",
        subcommands = {
            UnknownListCommand.class,
            UnknownDoneCommand.class,
            UnknownRetryCommand.class,
            UnknownDeadCommand.class
        })
final class UnknownCommand {
    UnknownCommand(Console console) {}
}
