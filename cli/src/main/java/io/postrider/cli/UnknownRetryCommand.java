// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "retry",
        mixinStandardHelpOptions = true,
        description = "They had none: have them tried again, before all later events of their keys.")
final class UnknownRetryCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private UnknownEvents events = new UnknownEvents();

    UnknownRetryCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        return events.change(console, "to be tried again", (unknowns, event, actor) -> unknowns.retry(event, actor));
    }
}
