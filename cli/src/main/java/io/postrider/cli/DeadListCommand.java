// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.ops.DeadLetter;
import io.postrider.ops.DeadLetters;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "list", mixinStandardHelpOptions = true, description = "A page of dead letters, oldest first.")
final class DeadListCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private DeadFilter filter = new DeadFilter();

    @Mixin
    private Format format = new Format();

    @Option(
            names = "--after",
            paramLabel = "ROW",
            description = "Only those behind this row: the last of the page before.")
    private long after;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "50", description = "1 to 1000; default 50.")
    private int limit;

    DeadListCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Access access = console.access();
        List<DeadLetter> page =
                DeadLetters.of(access.dataSource(), access.tables()).find(filter.query(after, limit));
        table().print(console.out(), page, format.json());
        if (!format.json() && page.isEmpty()) {
            console.say("No dead letters.");
        } else if (!format.json() && page.size() == limit) {
            console.say(
                    "There may be more: --after " + page.get(page.size() - 1).id());
        }
        return Exit.DONE;
    }

    static Table<DeadLetter> table() {
        return new Table<DeadLetter>()
                .hidden("row", DeadLetter::id)
                .firm("event", DeadLetter::eventId)
                .loose("stream", DeadLetter::stream)
                .loose("key", DeadLetter::key)
                .loose("type", DeadLetter::type)
                .hidden("aggregateType", DeadLetter::aggregateType)
                .hidden("aggregateId", DeadLetter::aggregateId)
                .firm("holds", DeadLetter::holdsKey)
                .hidden("attempts", DeadLetter::attempts)
                .loose("error", DeadLetter::errorCode)
                .hidden("errorMessage", DeadLetter::errorMessage)
                .hidden("createdAt", DeadLetter::createdAt)
                .hidden("lastAttemptAt", DeadLetter::lastAttemptAt);
    }
}
