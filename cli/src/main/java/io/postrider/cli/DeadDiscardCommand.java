// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(name = "discard", mixinStandardHelpOptions = true, description = "Remove them for good, into the history.")
final class DeadDiscardCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private Letters letters = new Letters();

    @Mixin
    private Signature signature = new Signature();

    DeadDiscardCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        return letters.change(console, "discarded", signature, (dead, page, by) -> dead.discard(page, by.actor()));
    }
}
