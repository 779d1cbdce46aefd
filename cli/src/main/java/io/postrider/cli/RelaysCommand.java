// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.ops.Relays;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "relays",
        mixinStandardHelpOptions = true,
        description = "Who delivers: their share of the 256 shards, what is under way, and whether they are alive.")
final class RelaysCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private Format format = new Format();

    RelaysCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Access access = console.access();
        List<Relays.Member> members =
                Relays.of(access.dataSource(), access.tables()).members();
        new Table<Relays.Member>()
                .hidden("id", Relays.Member::id)
                .loose("name", Relays.Member::name)
                .loose("group", Relays.Member::group)
                .firm("wants", Relays.Member::wants)
                .number("shards", Relays.Member::shards)
                .number("inFlight", Relays.Member::inFlight)
                .number("published", Relays.Member::published)
                .firm("alive", Relays.Member::alive, each -> each.alive() ? "yes" : "NO")
                .firm("silentFor", Relays.Member::silentFor)
                .loose("version", each -> each.version().orElse(null))
                .loose("closed", Relays.Member::closed)
                .hidden("startedAt", Relays.Member::startedAt)
                .hidden("lease", Relays.Member::lease)
                .print(console.out(), members, format.json());
        if (members.isEmpty() && !format.json()) {
            console.say("No relay is running: nothing is delivered.");
        }
        return Exit.DONE;
    }
}
