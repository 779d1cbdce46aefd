// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "unhold",
        mixinStandardHelpOptions = true,
        description = "Leave them dead, but let later events of their keys go.")
final class DeadUnholdCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private Letters letters = new Letters();

    @Mixin
    private Signature signature = new Signature();

    DeadUnholdCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        return letters.change(console, "unheld", signature, (dead, page, by) -> dead.unhold(page, by.actor()));
    }
}
