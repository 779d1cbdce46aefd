// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.ops.Backlog;
import io.postrider.ops.HeldKeys;
import io.postrider.ops.Relays;
import io.postrider.ops.Streams;
import io.postrider.ops.Undelivered;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What an undelivered event waits for, in words.
 *
 * @param since when it began to wait for that
 * @param until when it will have waited, if that is known
 * @param heldBy the event before it that must go first
 */
record Waiting(String text, Instant since, Optional<Instant> until, Optional<HeldKeys.HeldKey> heldBy) {

    static Waiting of(Undelivered.Event event, Storage storage) {
        return switch (event.state()) {
            case DEAD ->
                new Waiting(
                        "It is dead: it waits for a person to requeue, edit or discard it."
                                + (event.holdsKey() ? " Later events of its key wait for it." : ""),
                        event.lastAttemptAt().orElse(event.createdAt()),
                        Optional.empty(),
                        Optional.empty());
            case UNKNOWN ->
                new Waiting(
                        "Nobody knows whether it had its effect: it waits until somebody has found out."
                                + (event.holdsKey() ? " Later events of its key wait for it." : ""),
                        event.lastAttemptAt().orElse(event.createdAt()),
                        Optional.empty(),
                        Optional.empty());
            case RETRYING ->
                new Waiting(
                        "It failed " + times(event.attempts()) + " and waits for its next attempt."
                                + (event.holdsKey() ? " Later events of its key wait for it." : ""),
                        event.lastAttemptAt().orElse(event.createdAt()),
                        Optional.of(event.dueAt()),
                        Optional.empty());
            case DELAYED ->
                new Waiting(
                        "It waits for the time that its writer gave.",
                        event.createdAt(),
                        Optional.of(event.dueAt()),
                        Optional.empty());
            case LEASED ->
                new Waiting(
                        "It is left to the process that wrote it, which sends it at its commit.",
                        event.createdAt(),
                        Optional.of(event.dueAt()),
                        Optional.empty());
            case PENDING -> pending(event, storage);
        };
    }

    private static String times(int attempts) {
        return attempts == 1 ? "once" : attempts + " times";
    }

    private static Waiting pending(Undelivered.Event event, Storage storage) {
        Optional<Backlog.Pause> pause = Streams.of(storage.dataSource(), storage.tables()).known().stream()
                .filter(each -> each.name().equals(event.stream()))
                .findFirst()
                .flatMap(Streams.Known::pause);
        if (pause.isPresent()) {
            return new Waiting(
                    "Its stream is paused by " + pause.get().by() + ": "
                            + pause.get().reason(),
                    pause.get().since(),
                    Optional.empty(),
                    Optional.empty());
        }
        Optional<HeldKeys.HeldKey> held = event.key()
                .flatMap(
                        key -> HeldKeys.of(storage.dataSource(), storage.tables()).find(event.stream(), key, 1).stream()
                                .findFirst())
                .filter(each -> each.rowId() < event.id());
        if (held.isPresent()) {
            return new Waiting(
                    switch (held.get().state()) {
                        case DEAD ->
                            "An earlier event of its key is dead, and this one waits until somebody acts on it.";
                        case UNKNOWN ->
                            "Nobody knows what became of an earlier event of its key, and this one waits until"
                                    + " somebody has found out.";
                        default -> "An earlier event of its key failed, and this one waits until that is delivered.";
                    },
                    event.createdAt().isAfter(held.get().since())
                            ? event.createdAt()
                            : held.get().since(),
                    held.get().retryAt(),
                    held);
        }
        return new Waiting(
                relay(event, Relays.of(storage.dataSource(), storage.tables()).members()),
                event.createdAt(),
                Optional.empty(),
                Optional.empty());
    }

    private static String relay(Undelivered.Event event, List<Relays.Member> members) {
        List<Relays.Member> alive = members.stream()
                .filter(each -> each.alive() && each.wants().equals("SHARDS"))
                .toList();
        if (alive.isEmpty()) {
            return "It waits for a relay, and none is running.";
        }
        return alive.stream().anyMatch(each -> each.closed().contains(event.stream()))
                ? "The destination of its stream does not answer. It is sent when it does."
                : "It waits for its turn: a relay takes it with the next ones of its shard.";
    }

    Map<String, @Nullable Object> json() {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("text", text);
        json.put("since", since);
        json.put("until", until);
        json.put("heldBy", heldBy.map(HeldKeys.HeldKey::eventId));
        return json;
    }
}
