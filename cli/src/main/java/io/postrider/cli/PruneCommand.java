// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.ops.Retention;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "prune",
        mixinStandardHelpOptions = true,
        description = {
            "Make the history's partitions for the days to come, and drop those that are old.",
            "A relay does this once a day. Undelivered and dead events are never touched."
        })
final class PruneCommand implements Callable<Integer> {
    private final Console console;

    @Option(names = "--keep-days", required = true, paramLabel = "N", description = "Keep the history of so many days.")
    private int keepDays;

    PruneCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        if (keepDays < 1) {
            throw new Refusal(Exit.USAGE, "--keep-days must be 1 or more, not " + keepDays + ".");
        }
        Access access = console.access();
        Retention.Result result = new Retention(access.dataSource(), access.tables(), Duration.ofDays(keepDays)).run();
        console.say("%d partitions made, %d dropped, %d rows deleted besides."
                .formatted(result.partitionsMade(), result.partitionsDropped(), result.rowsDeleted()));
        if (result.busy()) {
            throw new Refusal(Exit.NOTHING, "Some are left, since somebody reads the history. Run it again later.");
        }
        return Exit.DONE;
    }
}
