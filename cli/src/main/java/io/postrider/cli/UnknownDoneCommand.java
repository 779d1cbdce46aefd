// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "done",
        mixinStandardHelpOptions = true,
        description = "They had their effect: remove them, into the history as published.")
final class UnknownDoneCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private UnknownEvents events = new UnknownEvents();

    UnknownDoneCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        return events.change(console, "settled", (unknowns, event, actor) -> unknowns.done(event, actor));
    }
}
