// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.ops.Actor;
import io.postrider.ops.Backlog;
import io.postrider.ops.DeadLetter;
import io.postrider.ops.DeadLetterQuery;
import io.postrider.ops.DeadLetters;
import io.postrider.ops.Relays;
import io.postrider.ops.Streams;
import io.postrider.relay.Relay;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.lang.Nullable;

/** The actuator endpoint {@code outbox}: relays, backlog and dead letters; requeue, pause and resume. */
@Endpoint(id = "outbox")
public final class OutboxEndpoint {
    private static final int PAGE = 1000;

    private final Storage storage;
    private final Backlog backlog;
    private final Relays relays;
    private final @Nullable RelayLifecycle relay;

    OutboxEndpoint(Storage storage, @Nullable RelayLifecycle relay) {
        this.storage = storage;
        this.backlog = Backlog.of(storage.dataSource(), storage.tables());
        this.relays = Relays.of(storage.dataSource(), storage.tables());
        this.relay = relay;
    }

    /** What is shown. */
    public record Overview(List<RelayView> relays, List<StreamView> streams, List<DeadLetterView> deadLetters) {}

    /** One relay, here or elsewhere. */
    public record RelayView(
            String name,
            String group,
            boolean alive,
            boolean paused,
            int shards,
            int inFlight,
            long published,
            List<String> streamsWithoutDestination,
            String startedAt,
            @Nullable String version) {}

    /** One stream. */
    public record StreamView(
            String stream, long pending, long dead, long unknown, double oldestPendingSeconds, boolean paused) {}

    /** One dead letter, without its payload. */
    public record DeadLetterView(
            String eventId,
            String stream,
            @Nullable String key,
            String type,
            boolean holdsKey,
            int attempts,
            String errorCode,
            String errorMessage,
            String createdAt) {}

    /** Everything at a glance, with the oldest hundred dead letters. */
    @ReadOperation
    public Overview overview() {
        return new Overview(
                relays.members().stream().map(OutboxEndpoint::view).toList(),
                backlog.streams().stream()
                        .map(each -> new StreamView(
                                each.name(),
                                each.undelivered(),
                                each.dead(),
                                each.unknown(),
                                each.oldest().orElse(Duration.ZERO).toMillis() / 1000.0,
                                each.pause().isPresent()))
                        .toList(),
                letters().find(DeadLetterQuery.all()).stream()
                        .map(OutboxEndpoint::view)
                        .toList());
    }

    private static RelayView view(Relays.Member each) {
        return new RelayView(
                each.name(),
                each.group(),
                each.alive(),
                each.wants().equals("REST"),
                each.shards(),
                each.inFlight(),
                each.published(),
                each.closed(),
                each.startedAt().toString(),
                each.version().orElse(null));
    }

    private static DeadLetterView view(DeadLetter letter) {
        return new DeadLetterView(
                letter.eventId().toString(),
                letter.stream(),
                letter.key().orElse(null),
                letter.type(),
                letter.holdsKey(),
                letter.attempts(),
                letter.errorCode(),
                letter.errorMessage(),
                letter.createdAt().toString());
    }

    /**
     * Does something about it, audited with the caller's name.
     *
     * @param action {@code requeue} dead letters, of a stream or one event; {@code pause} or {@code resume} a stream
     *     everywhere, or without a stream the relay of this application
     * @return how many were changed
     */
    @WriteOperation
    public Map<String, Integer> act(
            @Selector String action,
            @Nullable String stream,
            @Nullable String eventId,
            @Nullable String why,
            SecurityContext caller) {
        Principal principal = caller.getPrincipal();
        Actor actor = new Actor(
                principal == null ? "actuator" : principal.getName(),
                why == null || why.isBlank() ? "no reason given" : why);
        int changed = switch (action) {
            case "requeue" -> requeue(stream, eventId, actor);
            case "pause" -> pause(stream, actor);
            case "resume" -> resume(stream, actor);
            default -> throw refused("Action '" + action + "' is unknown. Use requeue, pause or resume.");
        };
        return Map.of("changed", changed);
    }

    private int requeue(@Nullable String stream, @Nullable String eventId, Actor actor) {
        if (stream == null && eventId == null) {
            throw refused("Give a stream or an eventId: without either, all dead letters would be requeued.");
        }
        DeadLetterQuery query = DeadLetterQuery.all().limit(PAGE);
        query = stream == null ? query : query.stream(stream);
        query = eventId == null ? query : query.eventId(id(eventId));
        int changed = 0;
        List<DeadLetter> page;
        do {
            page = letters().find(query);
            if (!page.isEmpty()) {
                changed += letters().requeue(page, actor);
                query = query.after(page.get(page.size() - 1));
            }
        } while (page.size() == PAGE);
        return changed;
    }

    private static UUID id(String text) {
        try {
            return UUID.fromString(text);
        } catch (IllegalArgumentException e) {
            throw refused("eventId '" + text + "' is no UUID.");
        }
    }

    private int pause(@Nullable String stream, Actor actor) {
        if (stream != null) {
            return streams().pause(stream, actor) ? 1 : 0;
        }
        here().pause();
        return 1;
    }

    private int resume(@Nullable String stream, Actor actor) {
        if (stream != null) {
            return streams().resume(stream, actor) ? 1 : 0;
        }
        here().resume();
        return 1;
    }

    private Relay here() {
        return Optional.ofNullable(relay)
                .flatMap(RelayLifecycle::relay)
                .orElseThrow(() -> refused("No relay runs in this application. Name a stream."));
    }

    private DeadLetters letters() {
        return DeadLetters.of(storage.dataSource(), storage.tables());
    }

    private Streams streams() {
        return Streams.of(storage.dataSource(), storage.tables());
    }

    private static InvalidEndpointRequestException refused(String why) {
        return new InvalidEndpointRequestException(why, why);
    }
}
