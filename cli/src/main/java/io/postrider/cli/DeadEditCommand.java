// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.ops.DeadLetter;
import io.postrider.ops.DeadLetters;
import io.postrider.ops.Edit;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "edit",
        mixinStandardHelpOptions = true,
        description = {
            "Change what a dead letter says, and have it delivered again.",
            "Needs the database role postrider_editor. The audit table keeps the digests of both payloads."
        })
final class DeadEditCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(paramLabel = "EVENT", description = "Event id.")
    private UUID event = new UUID(0, 0);

    @ArgGroup
    private PayloadChoice payload = new PayloadChoice();

    @Option(names = "--content-type", paramLabel = "TYPE", description = "The new content type.")
    private @Nullable String contentType;

    @Option(names = "--header", paramLabel = "NAME=VALUE", description = "Set a header; may be repeated.")
    private Map<String, String> headers = new LinkedHashMap<>();

    @Option(names = "--remove-header", paramLabel = "NAME", description = "Remove a header; may be repeated.")
    private List<String> removed = new ArrayList<>();

    @Option(names = "--dry-run", description = "Show what would be sent, and change nothing.")
    private boolean dryRun;

    @Mixin
    private Signature signature = new Signature();

    DeadEditCommand(Console console) {
        this.console = console;
    }

    /** One way to say what the payload shall be. */
    static final class PayloadChoice {
        @Option(names = "--payload", paramLabel = "TEXT", description = "The new payload, as text.")
        private @Nullable String text;

        @Option(names = "--payload-file", paramLabel = "FILE", description = "The new payload, byte for byte.")
        private @Nullable Path file;

        @Option(names = "--tombstone", description = "No payload at all.")
        private boolean tombstone;

        Edit in(Edit edit) throws IOException {
            if (tombstone) {
                return edit.tombstone();
            }
            if (file != null) {
                if (!Files.isReadable(file)) {
                    throw new Refusal(
                            Exit.USAGE, "The file " + file + " cannot be read. Give --payload-file another one.");
                }
                return edit.payload(Files.readAllBytes(file));
            }
            return text == null ? edit : edit.payload(text.getBytes(StandardCharsets.UTF_8));
        }

        boolean isEmpty() {
            return text == null && file == null && !tombstone;
        }
    }

    @Override
    public Integer call() throws IOException {
        if (payload.isEmpty() && contentType == null && headers.isEmpty() && removed.isEmpty()) {
            throw new Refusal(
                    Exit.USAGE,
                    "Nothing is to be changed. Give --payload-file, --header or another change, or run:"
                            + " postrider dead requeue " + event);
        }
        DeadLetters dead =
                DeadLetters.of(console.access().dataSource(), console.access().tables());
        DeadLetter letter = DeadShowCommand.find(dead, event);
        Edit edit = payload.in(Edit.none());
        if (contentType != null) {
            edit = edit.contentType(contentType);
        }
        if (!headers.isEmpty() || !removed.isEmpty()) {
            Map<String, String> all =
                    new LinkedHashMap<>(DeadShowCommand.content(dead, letter).headers());
            removed.forEach(all::remove);
            all.putAll(headers);
            edit = edit.headers(all);
            console.say("headers: " + all);
        }
        if (dryRun) {
            console.say("Event " + event + " would be edited and requeued.");
            return Exit.DONE;
        }
        if (!dead.edit(letter, edit, signature.actor())) {
            throw new Refusal(Exit.NOTHING, "Event " + event + " was changed by somebody else just now. Look again.");
        }
        console.say("Event " + event + " edited and requeued.");
        return Exit.DONE;
    }
}
