// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

@Command(
        name = "completion",
        mixinStandardHelpOptions = true,
        description = "Print a script by which bash and zsh complete commands: source <(postrider completion)")
final class CompletionCommand implements Callable<Integer> {
    private final Console console;

    @Spec
    private @Nullable CommandSpec spec;

    CompletionCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        if (spec == null) {
            throw new IllegalStateException("Run it as a command");
        }
        console.out().print(AutoComplete.bash("postrider", spec.root().commandLine()));
        return Exit.DONE;
    }
}
