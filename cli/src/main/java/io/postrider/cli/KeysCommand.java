// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.ops.HeldKeys;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "keys",
        mixinStandardHelpOptions = true,
        description = "Which keys are held, by which event, and how many wait behind it.")
final class KeysCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private Format format = new Format();

    @Option(names = "--stream", paramLabel = "NAME", description = "Of this stream alone.")
    private @Nullable String stream;

    @Option(names = "--key", paramLabel = "KEY", description = "This key alone.")
    private @Nullable String key;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "50", description = "At most so many; default 50.")
    private int limit;

    KeysCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Access access = console.access();
        List<HeldKeys.HeldKey> keys =
                HeldKeys.of(access.dataSource(), access.tables()).find(stream, key, limit);
        new Table<HeldKeys.HeldKey>()
                .loose("stream", HeldKeys.HeldKey::stream)
                .loose("key", HeldKeys.HeldKey::key)
                .firm("heldBy", HeldKeys.HeldKey::eventId)
                .firm("state", HeldKeys.HeldKey::state)
                .firm("behind", HeldKeys.HeldKey::behind, each -> Shown.of(each.behind()) + (each.more() ? "+" : ""))
                .hidden("more", HeldKeys.HeldKey::more)
                .hidden("type", HeldKeys.HeldKey::type)
                .hidden("attempts", HeldKeys.HeldKey::attempts)
                .loose("error", HeldKeys.HeldKey::errorCode)
                .hidden("errorMessage", HeldKeys.HeldKey::errorMessage)
                .hidden("retryAt", HeldKeys.HeldKey::retryAt)
                .hidden("since", HeldKeys.HeldKey::since)
                .print(console.out(), keys, format.json());
        if (!format.json()) {
            console.say(
                    keys.isEmpty()
                            ? "No key is held."
                            : "RETRYING ones go on by themselves. For others: postrider dead show, postrider unknown list");
        }
        return Exit.DONE;
    }
}
