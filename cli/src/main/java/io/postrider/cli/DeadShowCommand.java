// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.internal.Json;
import io.postrider.ops.DeadLetter;
import io.postrider.ops.DeadLetterQuery;
import io.postrider.ops.DeadLetters;
import io.postrider.ops.Undelivered;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "show",
        mixinStandardHelpOptions = true,
        description = "One dead letter with its headers, its payload and its failed attempts.")
final class DeadShowCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(paramLabel = "EVENT", description = "Event id.")
    private UUID event = new UUID(0, 0);

    @Mixin
    private Format format = new Format();

    @Option(names = "--save", paramLabel = "FILE", description = "Write the payload to this file, byte for byte.")
    private @Nullable Path file;

    DeadShowCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws IOException {
        DeadLetters dead =
                DeadLetters.of(console.access().dataSource(), console.access().tables());
        DeadLetter letter = find(dead, event);
        DeadLetters.Content content = content(dead, letter);
        if (file != null && content.payload() != null) {
            Files.write(file, content.payload());
        }
        List<DeadLetters.Attempt> attempts = dead.attempts(event);
        Terms terms = terms();
        if (format.json()) {
            console.out().println(Json.of(fields(letter, terms, content, attempts)));
        } else {
            print(letter, terms, content, attempts);
        }
        return Exit.DONE;
    }

    /** What its writer has asked for beside its delivery. */
    private record Terms(Optional<Instant> expiresAt, Optional<String> dedupKey) {}

    private Terms terms() {
        return Undelivered.of(console.access().dataSource(), console.access().tables())
                .find(event)
                .map(found -> new Terms(found.expiresAt(), found.dedupKey()))
                .orElseGet(() -> new Terms(Optional.empty(), Optional.empty()));
    }

    static DeadLetter find(DeadLetters dead, UUID event) {
        List<DeadLetter> found = dead.find(DeadLetterQuery.all().eventId(event));
        if (found.isEmpty()) {
            throw new Refusal(
                    Exit.NOTHING,
                    "Event " + event + " is no dead letter. Look where it is: postrider events --id " + event);
        }
        return found.get(0);
    }

    static DeadLetters.Content content(DeadLetters dead, DeadLetter letter) {
        return dead.content(letter)
                .orElseThrow(() -> new Refusal(
                        Exit.NOTHING,
                        "Event " + letter.eventId() + " was changed by somebody else just now. Look again."));
    }

    private void print(
            DeadLetter letter, Terms terms, DeadLetters.Content content, List<DeadLetters.Attempt> attempts) {
        line("event", letter.eventId());
        line("stream", letter.stream());
        line("key", letter.key());
        line("holds its key", letter.holdsKey());
        line("type", letter.type());
        line(
                "aggregate",
                letter.aggregateType()
                        .map(type -> type + " " + letter.aggregateId().orElse("")));
        line("created", letter.createdAt());
        line("last attempt", letter.lastAttemptAt());
        terms.expiresAt().ifPresent(at -> line("expires", at));
        terms.dedupKey().ifPresent(key -> line("dedup key", key));
        line("error", letter.errorCode() + ": " + letter.errorMessage());
        line("content type", content.contentType());
        content.headers().forEach((name, value) -> line("header", name + " = " + value));
        byte[] payload = content.payload();
        line(
                "payload",
                payload == null ? "none" : payload.length + " bytes" + (file == null ? "" : ", saved to " + file));
        console.out().println(Payload.shown(payload));
        if (!attempts.isEmpty()) {
            console.out().println();
            new Table<DeadLetters.Attempt>()
                    .firm("attemptedAt", DeadLetters.Attempt::at)
                    .loose("relay", DeadLetters.Attempt::relay)
                    .loose("error", DeadLetters.Attempt::errorCode)
                    .loose("message", DeadLetters.Attempt::errorMessage)
                    .print(console.out(), attempts, false);
        }
    }

    private void line(String name, @Nullable Object value) {
        console.out().printf("%-14s %s%n", name, Shown.of(value));
    }

    private static Map<String, @Nullable Object> fields(
            DeadLetter letter, Terms terms, DeadLetters.Content content, List<DeadLetters.Attempt> attempts) {
        Map<String, @Nullable Object> fields = DeadListCommand.table().fields(letter);
        fields.put("expiresAt", terms.expiresAt());
        fields.put("dedupKey", terms.dedupKey());
        fields.put("contentType", content.contentType());
        fields.put("headers", content.headers());
        byte[] payload = content.payload();
        fields.put("payload", payload == null ? null : Payload.text(payload));
        fields.put("payloadBase64", payload == null ? null : Base64.getEncoder().encodeToString(payload));
        fields.put(
                "failedAttempts", attempts.stream().map(DeadShowCommand::fields).toList());
        return fields;
    }

    private static Map<String, Object> fields(DeadLetters.Attempt attempt) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("at", attempt.at());
        fields.put("relay", attempt.relay());
        fields.put("error", attempt.errorCode());
        fields.put("message", attempt.errorMessage());
        return fields;
    }
}
