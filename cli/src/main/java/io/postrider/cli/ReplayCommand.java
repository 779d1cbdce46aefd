// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.ops.Replay;
import io.postrider.ops.ReplayQuery;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "replay",
        mixinStandardHelpOptions = true,
        description = {
            "Have delivered events delivered again, from the history, behind all that is undelivered.",
            "They keep their ids, so consumers with an inbox drop them, unless --new-ids is given."
        })
final class ReplayCommand implements Callable<Integer> {
    private final Console console;

    @Option(names = "--stream", required = true, paramLabel = "STREAM", description = "Of this stream.")
    private String stream = "";

    @Option(names = "--key", paramLabel = "KEY", description = "Of this key only.")
    private @Nullable String key;

    @Option(names = "--type", paramLabel = "TYPE", description = "Of this type only.")
    private @Nullable String type;

    @Option(
            names = "--from",
            paramLabel = "TIME",
            description = "Delivered then or later, such as 2025-03-01T10:00:00Z.")
    private @Nullable String from;

    @Option(names = "--to", paramLabel = "TIME", description = "Delivered before.")
    private @Nullable String to;

    @Option(names = "--after", paramLabel = "ROW", description = "Go on behind the row at which a replay was ended.")
    private long after;

    @Option(names = "--rate", paramLabel = "N", description = "So many in a second; default: 1000.")
    private int rate = 1000;

    @Option(names = "--new-ids", description = "Give each a new event id.")
    private boolean newIds;

    @Option(names = "--dry-run", description = "Only count them.")
    private boolean dryRun;

    @Mixin
    private Signature signature = new Signature();

    ReplayCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        if (rate < 1) {
            throw new Refusal(Exit.USAGE, "--rate must be 1 or more, not " + rate + ".");
        }
        Access access = console.access();
        ReplayQuery query = query();
        Replay replay = Replay.of(access.dataSource(), access.tables()).rate(rate);
        if (dryRun) {
            console.say(replay.count(query) + " would be replayed.");
            return Exit.DONE;
        }
        Replay run = newIds ? replay.newIds() : replay;
        Replay.Progress end = run.run(
                query,
                signature.actor(),
                now -> console.remark(
                        "%d of %d replayed, up to row %d".formatted(now.done(), now.found(), now.lastRow())));
        console.say("%d replayed, %d left out since they are undelivered or gone."
                .formatted(end.appended(), end.done() - end.appended()));
        return end.appended() > 0 ? Exit.DONE : Exit.NOTHING;
    }

    private ReplayQuery query() {
        ReplayQuery query = ReplayQuery.of(stream).key(key).type(type).afterRow(after);
        try {
            query = from == null ? query : query.from(time("--from", from));
            return to == null ? query : query.to(time("--to", to));
        } catch (IllegalArgumentException e) {
            throw new Refusal(Exit.USAGE, String.valueOf(e.getMessage()));
        }
    }

    private static Instant time(String option, String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeParseException e) {
            throw new Refusal(Exit.USAGE, option + " must be a time such as 2025-03-01T10:00:00Z, not '" + text + "'.");
        }
    }
}
