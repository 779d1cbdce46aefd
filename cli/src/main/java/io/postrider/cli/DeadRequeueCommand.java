// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "requeue",
        mixinStandardHelpOptions = true,
        description = "Have them delivered again, before all later events of their keys.")
final class DeadRequeueCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private Letters letters = new Letters();

    @Mixin
    private Signature signature = new Signature();

    DeadRequeueCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        return letters.change(console, "requeued", signature, (dead, page, by) -> dead.requeue(page, by.actor()));
    }
}
