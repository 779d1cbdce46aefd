// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.ops.Backlog;
import io.postrider.ops.Relays;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import javax.sql.DataSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "status",
        mixinStandardHelpOptions = true,
        description = "What is not delivered, stream by stream, and who delivers.")
final class StatusCommand implements Callable<Integer> {
    private static final String CLEAR_SCREEN = "\u001b[H\u001b[2J";

    private final Console console;

    @Mixin
    private Format format = new Format();

    @Option(names = "--watch", description = "Again and again, until Ctrl-C.")
    private boolean watch;

    @Option(names = "--every", paramLabel = "SECONDS", defaultValue = "2", description = "With --watch; default 2.")
    private double every;

    @Option(names = "--times", paramLabel = "N", description = "With --watch: end after so many looks.")
    private int times;

    @Option(
            names = "--count-to",
            paramLabel = "N",
            defaultValue = "100000",
            description = "Counts stop here, and show a +; default 100000.")
    private long countTo;

    StatusCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (countTo < 1 || every <= 0) {
            throw new Refusal(Exit.USAGE, "--count-to and --every must be above zero.");
        }
        DataSource source = console.access().dataSource();
        boolean screen = watch && !format.json() && Boolean.getBoolean("postrider.terminal");
        for (int look = 1; ; look++) {
            if (screen) {
                console.out().print(CLEAR_SCREEN);
            }
            print(source);
            console.out().flush();
            if (!watch || look == times) {
                return Exit.DONE;
            }
            Thread.sleep((long) (every * 1000));
        }
    }

    private void print(DataSource source) {
        Backlog backlog = Backlog.of(source, console.access().tables()).upTo(countTo);
        List<Backlog.Stream> streams = backlog.streams();
        table().print(console.out(), streams, format.json());
        if (format.json()) {
            return;
        }
        List<Relays.Member> relays =
                Relays.of(source, console.access().tables()).members();
        long alive = relays.stream().filter(Relays.Member::alive).count();
        long closed = relays.stream()
                .filter(each -> each.alive() && !each.closed().isEmpty())
                .count();
        console.say((streams.isEmpty() ? "No stream is known. " : "")
                + (alive == 0 ? "No relay is running: nothing is delivered." : "Relays alive: " + alive + ".")
                + (closed == 0 ? "" : " " + closed + " of them get no answer from a destination: postrider relays")
                + (watch ? "  " + Shown.of(Instant.now()) : ""));
        streams.stream()
                .filter(each -> each.pause().isPresent())
                .forEach(each -> console.say(each.name() + " is paused since "
                        + Shown.of(each.pause().get().since()) + " by "
                        + each.pause().get().by() + ": " + each.pause().get().reason()));
    }

    private Table<Backlog.Stream> table() {
        return new Table<Backlog.Stream>()
                .loose("stream", Backlog.Stream::name)
                .loose("group", Backlog.Stream::group)
                .count("pending", Backlog.Stream::pending, countTo)
                .count("retrying", Backlog.Stream::retrying, countTo)
                .count("delayed", Backlog.Stream::delayed, countTo)
                .count("leased", Backlog.Stream::leased, countTo)
                .count("heldKeys", Backlog.Stream::heldKeys, countTo)
                .count("dead", Backlog.Stream::dead, countTo)
                .count("unknown", Backlog.Stream::unknown, countTo)
                .firm("oldest", Backlog.Stream::oldest)
                .firm("paused", each -> each.pause().isPresent())
                .hidden("pausedBy", each -> each.pause().map(Backlog.Pause::by))
                .hidden("pauseReason", each -> each.pause().map(Backlog.Pause::reason))
                .hidden("countedTo", each -> countTo);
    }
}
