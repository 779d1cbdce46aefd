// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.internal.Json;
import io.postrider.ops.History;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "tail",
        mixinStandardHelpOptions = true,
        description = "What is delivered and discarded, as it happens, until Ctrl-C; with --json one object per line.")
final class TailCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private Format format = new Format();

    @Option(names = "--stream", paramLabel = "NAME", description = "Of this stream alone.")
    private @Nullable String stream;

    @Option(
            names = "--every",
            paramLabel = "SECONDS",
            defaultValue = "1",
            description = "How often to look; default 1.")
    private double every;

    @Option(names = "--times", paramLabel = "N", description = "End after so many looks.")
    private int times;

    TailCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (every <= 0) {
            throw new Refusal(Exit.USAGE, "--every must be above zero.");
        }
        Access access = console.access();
        History.Tail tail = History.of(access.dataSource(), access.tables()).tail(stream);
        for (int look = 1; ; look++) {
            tail.next().forEach(this::print);
            console.out().flush();
            if (look == times) {
                return Exit.DONE;
            }
            Thread.sleep((long) (every * 1000));
        }
    }

    private void print(History.Entry entry) {
        if (format.json()) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("settledAt", entry.settledAt());
            fields.put("outcome", entry.outcome());
            fields.put("took", entry.took());
            fields.put("event", entry.eventId());
            fields.put("stream", entry.stream());
            fields.put("key", entry.key());
            fields.put("type", entry.type());
            fields.put("by", entry.by());
            console.out().println(Json.of(fields));
            return;
        }
        console.say("%s  %-9s  %4s  %s  %s  %s  %s  %s"
                .formatted(
                        Shown.of(entry.settledAt()),
                        entry.outcome(),
                        Shown.of(entry.took()),
                        entry.eventId(),
                        entry.stream(),
                        Shown.of(entry.key()),
                        entry.type(),
                        entry.by()));
    }
}
