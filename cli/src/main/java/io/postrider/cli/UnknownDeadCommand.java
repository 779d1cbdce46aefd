// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "dead",
        mixinStandardHelpOptions = true,
        description = "They had none and cannot have any: make dead letters of them.")
final class UnknownDeadCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private UnknownEvents events = new UnknownEvents();

    @Option(names = "--code", paramLabel = "CODE", required = true, description = "A short name for the cause.")
    private String code = "";

    @Option(names = "--message", paramLabel = "TEXT", required = true, description = "The cause, for people.")
    private String message = "";

    UnknownDeadCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        return events.change(console, "dead", (unknowns, event, actor) -> unknowns.dead(event, code, message, actor));
    }
}
