// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.ops.UnknownEvent;
import io.postrider.ops.Unknowns;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "list", mixinStandardHelpOptions = true, description = "A page of unknown events, oldest first.")
final class UnknownListCommand implements Callable<Integer> {
    private final Console console;

    @Option(names = "--stream", paramLabel = "NAME", description = "Of this stream.")
    private @Nullable String stream;

    @Option(names = "--older-than", paramLabel = "SECONDS", description = "Tried last at least so long ago.")
    private long olderThan;

    @Mixin
    private Format format = new Format();

    @Option(
            names = "--after",
            paramLabel = "ROW",
            description = "Only those behind this row: the last of the page before.")
    private long after;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "50", description = "1 to 1000; default 50.")
    private int limit;

    UnknownListCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        if (limit < 1 || limit > 1000 || olderThan < 0) {
            throw new Refusal(Exit.USAGE, "--limit is 1 to 1000, and --older-than not below zero.");
        }
        Access access = console.access();
        List<UnknownEvent> page = Unknowns.of(access.dataSource(), access.tables())
                .find(stream, Duration.ofSeconds(olderThan), after, limit);
        table().print(console.out(), page, format.json());
        if (!format.json() && page.isEmpty()) {
            console.say("No unknown events.");
        } else if (!format.json() && page.size() == limit) {
            console.say(
                    "There may be more: --after " + page.get(page.size() - 1).id());
        }
        return Exit.DONE;
    }

    private static Table<UnknownEvent> table() {
        return new Table<UnknownEvent>()
                .hidden("row", UnknownEvent::id)
                .firm("event", UnknownEvent::eventId)
                .loose("stream", UnknownEvent::stream)
                .loose("key", UnknownEvent::key)
                .loose("type", UnknownEvent::type)
                .hidden("aggregateType", UnknownEvent::aggregateType)
                .hidden("aggregateId", UnknownEvent::aggregateId)
                .firm("holds", UnknownEvent::holdsKey)
                .hidden("attempts", UnknownEvent::attempts)
                .loose("error", UnknownEvent::errorCode)
                .hidden("errorMessage", UnknownEvent::errorMessage)
                .hidden("createdAt", UnknownEvent::createdAt)
                .hidden("since", UnknownEvent::since);
    }
}
