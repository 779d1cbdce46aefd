// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.ops.Undelivered;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "events",
        mixinStandardHelpOptions = true,
        description = "Events that are not delivered, and what they wait for.")
final class EventsCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private Format format = new Format();

    @Option(names = "--stream", paramLabel = "NAME", description = "Of this stream.")
    private @Nullable String stream;

    @Option(names = "--key", paramLabel = "KEY", description = "Of this key.")
    private @Nullable String key;

    @Option(names = "--id", paramLabel = "EVENT", description = "This one.")
    private @Nullable UUID id;

    @Option(
            names = "--after",
            paramLabel = "ROW",
            description = "Only those behind this row: the last of the page before.")
    private long after;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "50", description = "1 to 1000; default 50.")
    private int limit;

    EventsCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Undelivered undelivered =
                Undelivered.of(console.access().dataSource(), console.access().tables());
        List<Undelivered.Event> found = id == null
                ? undelivered.find(stream, key, after, limit)
                : undelivered.find(id).stream().toList();
        table().print(console.out(), found, format.json());
        if (id != null && found.isEmpty()) {
            throw new Refusal(
                    Exit.NOTHING,
                    "Event " + id + " is not undelivered: it was delivered or discarded, or never committed.");
        }
        if (!format.json() && found.size() == limit) {
            console.say("There may be more: --after " + found.get(limit - 1).id());
        }
        return Exit.DONE;
    }

    private static Table<Undelivered.Event> table() {
        return new Table<Undelivered.Event>()
                .hidden("row", Undelivered.Event::id)
                .firm("event", Undelivered.Event::eventId)
                .loose("stream", Undelivered.Event::stream)
                .loose("key", Undelivered.Event::key)
                .loose("type", Undelivered.Event::type)
                .firm("state", Undelivered.Event::state)
                .hidden("holds", Undelivered.Event::holdsKey)
                .hidden("dueAt", Undelivered.Event::dueAt)
                .number("attempts", Undelivered.Event::attempts)
                .loose("error", Undelivered.Event::errorCode)
                .hidden("errorMessage", Undelivered.Event::errorMessage)
                .hidden("createdAt", Undelivered.Event::createdAt)
                .hidden("expiresAt", Undelivered.Event::expiresAt)
                .hidden("dedupKey", Undelivered.Event::dedupKey);
    }
}
